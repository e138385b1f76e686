"""IntegerSubnet: a fixed-point subnet made ready to run, float32 at its edges."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hexsim.binding import BoundCall, Operand
from hexsim.binding.call import Codes
from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray
from hexsim.int8.arena import Life, place
from hexsim.int8.dispatch import prepare
from hexsim.int8.edges import dequantize, quantize
from hexsim.int8.prepared import PreparedCall
from hexsim.int8.program import Program
from hexsim.int8.step import Work, Workspace, aligned


class IntegerSubnet:
    """Bound calls in execution order, and the tensors that enter and leave.

    Inside a call `threads` threads share the rows (0: as many as there are cores); the values do
    not depend on them. Several threads may call it, which then wait for each other.
    """

    def __init__(
        self,
        calls: Iterable[BoundCall],
        inputs: Sequence[str],
        outputs: Sequence[str],
        threads: int = 1,
    ) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self._threads = threads
        self._calls = [_Call(one.inputs, one.output, prepare(one)) for one in calls]
        self._operands: dict[str, Operand] = {
            operand.name: operand for call in self._calls for operand in (*call.inputs, call.output)
        }
        self._turn = threading.Lock()
        self._made: dict[bool, _Ready] = {}

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs as float32, all arrays in stored order.

        Raises HexsimError for an input of another shape than the network's.
        """
        with self._turn:
            codes = self._execute(inputs, keep=False)
            return {n: dequantize(codes[n], self._operands[n].encoding) for n in self.outputs}

    def run_codes(self, inputs: Mapping[str, FloatArray]) -> dict[str, Codes]:
        """Return the codes of every tensor of the subnet, its inputs included."""
        with self._turn:
            return {n: codes.copy() for n, codes in self._execute(inputs, keep=True).items()}

    def _execute(self, inputs: Mapping[str, FloatArray], *, keep: bool) -> Mapping[str, Codes]:
        for name in self.inputs:
            if inputs[name].shape != self._operands[name].shape:
                raise HexsimError(
                    f"input '{name}' has shape {inputs[name].shape}, the network expects "
                    f"{self._operands[name].shape}"
                )
        if keep not in self._made:
            kept = self._operands if keep else self.outputs
            self._made[keep] = _Ready(self._calls, self.inputs, kept, self._threads)
        ready = self._made[keep]
        for name in self.inputs:
            quantize(inputs[name], self._operands[name].encoding, ready.codes[name])
        ready.program.run()
        return ready.codes


@dataclass(frozen=True, eq=False)
class _Call:
    """What is left of a bound call, whose weights are packed now."""

    inputs: tuple[Operand, ...]
    output: Operand
    prepared: PreparedCall


class _Ready:
    """Memory for the tensors of a subnet and the program that fills it.

    `codes` are the tensors in their places; those that are not `kept` share them.
    """

    def __init__(
        self,
        calls: Sequence[_Call],
        inputs: Sequence[str],
        kept: Iterable[str],
        threads: int,
    ) -> None:
        tensors = {
            operand.name: operand
            for call in calls
            for operand in (*call.inputs, call.output)
            if operand.codes is None
        }
        starts, size = place(_lives(calls, inputs, kept))
        self.arena = aligned(size)
        self.codes = {
            name: self.arena[starts[name] : starts[name] + _bytes(operand)]
            .view(operand.encoding.dtype)
            .reshape(operand.shape)
            for name, operand in tensors.items()
        }
        sizes = Workspace()
        self._work(calls, sizes)
        self.program = Program(self._work(calls, Workspace(sizes.needed)), threads)

    def _work(self, calls: Sequence[_Call], workspace: Workspace) -> list[Work]:
        work: list[Work] = []
        for call in calls:
            workspace.next_call()
            operands = [self.codes[x.name] if x.codes is None else x.codes for x in call.inputs]
            work += call.prepared.steps(operands, self.codes[call.output.name], workspace)
        return work


def _lives(calls: Sequence[_Call], inputs: Sequence[str], kept: Iterable[str]) -> dict[str, Life]:
    """From the call that writes a tensor to the last that reads it, or to the end if `kept`."""
    tensors = [x for call in calls for x in (*call.inputs, call.output) if x.codes is None]
    first = dict.fromkeys(inputs, 0)
    last = {}
    for at, call in enumerate(calls):
        first.setdefault(call.output.name, at)
        for operand in (*call.inputs, call.output):
            last[operand.name] = at
    last.update(dict.fromkeys(kept, len(calls)))
    return {x.name: Life(_bytes(x), first[x.name], last[x.name]) for x in tensors}


def _bytes(operand: Operand) -> int:
    return math.prod(operand.shape) * operand.encoding.dtype.itemsize
