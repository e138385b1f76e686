"""IntegerSubnet: a fixed-point subnet made ready to run, float32 at its edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hexsim.binding import BoundCall, Operand
from hexsim.binding.call import Codes
from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray
from hexsim.int8.dispatch import prepare


class IntegerSubnet:
    """Bound calls in execution order, and the tensors that enter and leave.

    May be used from several threads at once.
    """

    def __init__(
        self, calls: Sequence[BoundCall], inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self._steps = [(call, prepare(call)) for call in calls]
        self._operands: dict[str, Operand] = {
            operand.name: operand for call in calls for operand in (*call.inputs, call.output)
        }
        last_reader = {x.name: at for at, call in enumerate(calls) for x in call.inputs}
        self._finished: list[list[str]] = [[] for _ in calls]
        for name, at in last_reader.items():
            if name not in self.outputs:
                self._finished[at].append(name)

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs as float32, all arrays in stored order.

        Raises HexsimError for an input of another shape than the network's.
        """
        codes = self._execute(inputs, keep=False)
        return {
            name: self._operands[name].encoding.dequantize(codes[name]) for name in self.outputs
        }

    def run_codes(self, inputs: Mapping[str, FloatArray]) -> dict[str, Codes]:
        """Return the codes of every tensor of the subnet, its inputs included."""
        return self._execute(inputs, keep=True)

    def _execute(self, inputs: Mapping[str, FloatArray], *, keep: bool) -> dict[str, Codes]:
        codes = {name: self._quantized(name, inputs[name]) for name in self.inputs}
        for (call, kernel), finished in zip(self._steps, self._finished, strict=True):
            operands = [codes[x.name] if x.codes is None else x.codes for x in call.inputs]
            result = np.empty(call.output.shape, call.output.encoding.dtype)
            kernel(operands, result)
            codes[call.output.name] = result
            if not keep:
                for name in finished:
                    codes.pop(name, None)
        return codes

    def _quantized(self, name: str, values: FloatArray) -> Codes:
        operand = self._operands[name]
        if values.shape != operand.shape:
            raise HexsimError(
                f"input '{name}' has shape {values.shape}, the network expects {operand.shape}"
            )
        return np.ascontiguousarray(operand.encoding.quantize(values), operand.encoding.dtype)
