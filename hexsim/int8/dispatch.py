"""Finds the kernel that runs a lowered call; `autotuner` does so for convolutions.

Each file of kernels has tables of the calls that it prepares: PREPARERS, and PREPARERS_16BIT for
16-bit arithmetic that is not a sum over the bytes of each number.

A packed call is a lowered call with its weights packed: all that its inferences share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hexsim.discovery import joined
from hexsim.errors import HexsimError
from hexsim.int8.autotuner import prepare_convolution, prepare_fully_connected
from hexsim.int8.gemm.deconvolution import PreparedDeconvolution
from hexsim.int8.gemm.depthwise import PreparedDepthwise
from hexsim.int8.sixteen_bit import Linear, PreparedBytes, local_response_norm
from hexsim.int8.step import Buffers, PreparedCall, Preparers, Work, Workspace
from hexsim.lowering import LoweredCall, Operand
from hexsim.lowering.local_response_norm import LoweredLocalResponseNorm
from hexsim.lowering.lowered_call import Codes
from hexsim.lowering.products import LoweredConvolution, LoweredDeconvolution, LoweredFullyConnected
from hexsim.records import dataclass


def prepare(call: LoweredCall) -> PreparedCall:
    """Choose the kernel of `call` and pack its constants."""
    if not is_16bit(call) or isinstance(call, LoweredDeconvolution):
        return _prepare_8bit(call)
    if type(call) in PREPARERS_16BIT:
        return PREPARERS_16BIT[type(call)](call)
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
PREPARERS_16BIT: Preparers = {
    **joined("hexsim.int8.pointwise", "PREPARERS_16BIT"),
    LoweredLocalResponseNorm: local_response_norm,
}


@dataclass(frozen=True, eq=False)
class PackedCall:
    """The operands of a call, and the call with its weights packed."""

    inputs: tuple[Operand, ...]
    output: Operand
    prepared: PreparedCall

    @classmethod
    def of(cls, call: LoweredCall) -> PackedCall:
        """Pack the weights of a call."""
        return cls(call.inputs, call.output, prepare(call))

    @property
    def tensors(self) -> tuple[Operand, ...]:
        """Return the operands and the result, without constants."""
        return tuple(x for x in (*self.inputs, self.output) if x.codes is None)

    def steps(self, codes: Mapping[str, Codes], workspace: Workspace) -> Sequence[Work]:
        """Return its work on the tensors `codes`; raises HexsimError for one unlike its operand."""
        inputs = [_checked(x, codes[x.name] if x.codes is None else x.codes) for x in self.inputs]
        output = _checked(self.output, codes[self.output.name])
        return self.prepared.steps(Buffers(inputs, output, workspace))


def _checked(operand: Operand, codes: Codes) -> Codes:
    """Return `codes` as kernels expect them: contiguous, of the operand's shape and type."""
    dtype = operand.encoding.dtype
    if (codes.shape, codes.dtype) != (operand.shape, dtype):
        raise HexsimError(
            f"tensor '{operand.name}' has {codes.dtype} codes of shape {codes.shape}, its encoding "
            f"and layer say {dtype} {operand.shape}; quantise the model again"
        )
    return np.ascontiguousarray(codes)
