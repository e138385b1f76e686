"""Which kernel runs a bound call; `choice.algorithms` knows which convolution."""

from __future__ import annotations

from hexsim.binding import (
    BoundAveragePool,
    BoundBatchNorm,
    BoundBilinear,
    BoundCall,
    BoundChannelPick,
    BoundConcat,
    BoundConvolution,
    BoundDeconvolution,
    BoundExtremum,
    BoundFullyConnected,
    BoundLocalResponseNorm,
    BoundLookup,
    BoundMaxPool,
    BoundNearest,
    BoundNv21,
    BoundPad,
    BoundProduct,
    BoundRearrange,
    BoundSlice,
    BoundSoftmax,
    BoundSum,
)
from hexsim.int8.choice.algorithms import prepare_convolution
from hexsim.int8.fully_connected import prepare_fully_connected
from hexsim.int8.passes.colour_conversion import PreparedChannelPick, PreparedNv21
from hexsim.int8.passes.elementwise import (
    PreparedExtremum,
    PreparedProduct,
    PreparedSum,
    PreparedWideProduct,
)
from hexsim.int8.passes.local_response_norm import PreparedLocalResponseNorm
from hexsim.int8.passes.lookup import PreparedLookup
from hexsim.int8.passes.movement import (
    PreparedConcat,
    PreparedPad,
    PreparedRearrange,
    PreparedSlice,
)
from hexsim.int8.passes.pooling import PreparedAveragePool, PreparedMaxPool
from hexsim.int8.passes.resize import PreparedBilinear, PreparedNearest
from hexsim.int8.passes.softmax import PreparedSoftmax
from hexsim.int8.prepared import PreparedCall
from hexsim.int8.products.deconvolution import PreparedDeconvolution
from hexsim.int8.products.depthwise import PreparedDepthwise
from hexsim.int8.wide.by_bytes import PreparedBytes
from hexsim.int8.wide.response_norm import PreparedWideResponseNorm


def prepare(call: BoundCall) -> PreparedCall:
    """Choose the kernel of `call` and pack its constants."""
    if isinstance(call, BoundDeconvolution):
        return PreparedDeconvolution(call, prepare)
    return _prepare_wide(call) if is_wide(call) else _prepare_narrow(call)


def is_wide(call: BoundCall) -> bool:
    """True if operands or weights have 16 bits and the call does arithmetic on them."""
    tail = getattr(call, "tail", None)
    return tail is not None and tail.fraction_bits > 0


def _prepare_wide(call: BoundCall) -> PreparedCall:
    match call:
        case BoundProduct():
            return PreparedWideProduct(call)
        case BoundLocalResponseNorm():
            return PreparedWideResponseNorm(call)
        case _:
            return PreparedBytes(call, _prepare_narrow)  # type: ignore[arg-type]


def _prepare_narrow(call: BoundCall) -> PreparedCall:
    match call:
        case BoundConvolution():
            return _prepare_convolution(call)
        case BoundFullyConnected():
            return prepare_fully_connected(call)
        case BoundMaxPool():
            return PreparedMaxPool(call)
        case BoundAveragePool():
            return PreparedAveragePool(call)
        case BoundNearest():
            return PreparedNearest(call)
        case BoundBilinear():
            return PreparedBilinear(call)
        case BoundSum():
            return PreparedSum(call)
        case BoundProduct():
            return PreparedProduct(call)
        case BoundExtremum():
            return PreparedExtremum(call)
        case BoundConcat():
            return PreparedConcat(call)
        case BoundRearrange():
            return PreparedRearrange(call)
        case BoundPad():
            return PreparedPad(call)
        case BoundSlice():
            return PreparedSlice(call)
        case BoundChannelPick():
            return PreparedChannelPick(call)
        case BoundNv21():
            return PreparedNv21(call)
        case BoundLookup():
            return PreparedLookup(call)
        case BoundBatchNorm():
            return PreparedDepthwise.of_batch_norm(call)
        case BoundLocalResponseNorm():
            return PreparedLocalResponseNorm(call)
        case BoundSoftmax():
            return PreparedSoftmax(call)
        case _:
            raise TypeError(f"no kernel for {type(call).__name__}")


def _prepare_convolution(call: BoundConvolution) -> PreparedCall:
    channels = call.inputs[0].shape[-1]
    if call.groups == channels == call.weights.codes.shape[-1]:
        return PreparedDepthwise.of_convolution(call)
    return prepare_convolution(call)
