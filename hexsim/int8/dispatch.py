"""Finds the kernel that runs a lowered call; `autotuner.algorithms` does so for convolutions.

Each file of kernels has tables of the calls that it prepares: PREPARERS, and PREPARERS_16BIT for
16-bit arithmetic that is not a sum over the bytes of each number.
"""

from hexsim.discovery import joined
from hexsim.int8.autotuner.algorithms import prepare_convolution
from hexsim.int8.fully_connected import prepare_fully_connected
from hexsim.int8.gemm.deconvolution import PreparedDeconvolution
from hexsim.int8.gemm.depthwise import PreparedDepthwise
from hexsim.int8.prepared import PreparedCall, Preparers
from hexsim.int8.sixteen_bit.by_bytes import Linear, PreparedBytes
from hexsim.lowering import LoweredCall
from hexsim.lowering.products import LoweredConvolution, LoweredDeconvolution, LoweredFullyConnected


def prepare(call: LoweredCall) -> PreparedCall:
    """Choose the kernel of `call` and pack its constants."""
    if not is_16bit(call) or isinstance(call, LoweredDeconvolution):
        return _prepare_8bit(call)
    if type(call) in _PREPARERS_16BIT:
        return _PREPARERS_16BIT[type(call)](call)
    assert isinstance(call, Linear), call
    return PreparedBytes(call, _prepare_8bit)


def is_16bit(call: LoweredCall) -> bool:
    """Return whether operands or weights have 16 bits and the call does arithmetic on them."""
    stage = getattr(call, "stage", None)
    return stage is not None and stage.fraction_bits > 0


def _prepare_8bit(call: LoweredCall) -> PreparedCall:
    if type(call) not in PREPARERS:
        raise TypeError(f"no kernel for {type(call).__name__}")
    return PREPARERS[type(call)](call)


def _prepare_convolution(call: LoweredConvolution) -> PreparedCall:
    channels = call.inputs[0].shape[-1]
    if call.groups == channels == call.weights.codes.shape[-1]:
        return PreparedDepthwise.of_convolution(call)
    return prepare_convolution(call)


def _prepare_deconvolution(call: LoweredDeconvolution) -> PreparedCall:
    return PreparedDeconvolution(call, prepare)


PREPARERS: Preparers = {
    LoweredConvolution: _prepare_convolution,
    LoweredDeconvolution: _prepare_deconvolution,
    LoweredFullyConnected: prepare_fully_connected,
    **joined("hexsim.int8.pointwise", "PREPARERS"),
    **joined("hexsim.int8.gemm", "PREPARERS"),
}
_PREPARERS_16BIT: Preparers = {
    **joined("hexsim.int8.pointwise", "PREPARERS_16BIT"),
    **joined("hexsim.int8.sixteen_bit", "PREPARERS_16BIT"),
}
