"""Which kernel runs a bound call; `choice.algorithms` knows which convolution.

Files say in tables of these names which calls they prepare: PREPARERS, and WIDE_PREPARERS for
arithmetic on 16 bits that is not that on the bytes of each number, added up.
"""

from __future__ import annotations

from hexsim.discovery import joined
from hexsim.int8.autotuner.algorithms import prepare_convolution
from hexsim.int8.fully_connected import prepare_fully_connected
from hexsim.int8.gemm.deconvolution import PreparedDeconvolution
from hexsim.int8.gemm.depthwise import PreparedDepthwise
from hexsim.int8.prepared import PreparedCall, Preparers
from hexsim.int8.sixteen_bit.by_bytes import PreparedBytes
from hexsim.lowering import BoundCall
from hexsim.lowering.convolution import BoundConvolution
from hexsim.lowering.deconvolution import BoundDeconvolution
from hexsim.lowering.fully_connected import BoundFullyConnected


def prepare(call: BoundCall) -> PreparedCall:
    """Choose the kernel of `call` and pack its constants."""
    if not is_wide(call) or isinstance(call, BoundDeconvolution):
        return _prepare_narrow(call)
    if type(call) in _WIDE:
        return _WIDE[type(call)](call)
    return PreparedBytes(call, _prepare_narrow)  # type: ignore[arg-type]


def is_wide(call: BoundCall) -> bool:
    """True if operands or weights have 16 bits and the call does arithmetic on them."""
    tail = getattr(call, "tail", None)
    return tail is not None and tail.fraction_bits > 0


def _prepare_narrow(call: BoundCall) -> PreparedCall:
    if type(call) not in PREPARERS:
        raise TypeError(f"no kernel for {type(call).__name__}")
    return PREPARERS[type(call)](call)


def _prepare_convolution(call: BoundConvolution) -> PreparedCall:
    channels = call.inputs[0].shape[-1]
    if call.groups == channels == call.weights.codes.shape[-1]:
        return PreparedDepthwise.of_convolution(call)
    return prepare_convolution(call)


def _prepare_deconvolution(call: BoundDeconvolution) -> PreparedCall:
    return PreparedDeconvolution(call, prepare)


PREPARERS: Preparers = {
    BoundConvolution: _prepare_convolution,
    BoundDeconvolution: _prepare_deconvolution,
    BoundFullyConnected: prepare_fully_connected,
    **joined("hexsim.int8.pointwise", "PREPARERS"),
    **joined("hexsim.int8.gemm", "PREPARERS"),
}
_WIDE: Preparers = {
    **joined("hexsim.int8.pointwise", "WIDE_PREPARERS"),
    **joined("hexsim.int8.sixteen_bit", "WIDE_PREPARERS"),
}
