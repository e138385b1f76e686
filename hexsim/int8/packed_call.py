"""A lowered call with its weights packed: all that its inferences share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hexsim.errors import HexsimError
from hexsim.int8.dispatch import prepare
from hexsim.int8.prepared import PreparedCall
from hexsim.int8.step import Work, Workspace
from hexsim.lowering import LoweredCall, Operand
from hexsim.lowering.lowered_call import Codes


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
        return self.prepared.steps(inputs, output, workspace)


def _checked(operand: Operand, codes: Codes) -> Codes:
    """Return `codes` as kernels expect them: contiguous, of the operand's shape and type."""
    dtype = operand.encoding.dtype
    if (codes.shape, codes.dtype) != (operand.shape, dtype):
        raise HexsimError(
            f"tensor '{operand.name}' has {codes.dtype} codes of shape {codes.shape}, its encoding "
            f"and layer say {dtype} {operand.shape}; quantise the model again"
        )
    return np.ascontiguousarray(codes)
