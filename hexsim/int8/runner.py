"""IntegerSubnet: a fixed-point subnet made ready to run, float32 at its edges."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hexsim.binding import BoundCall, Operand
from hexsim.binding.call import Codes
from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray
from hexsim.int8.dispatch import prepare
from hexsim.int8.edges import Entrance, Exit
from hexsim.int8.machine_code.memory import aligned
from hexsim.int8.prepared import PreparedCall
from hexsim.int8.programs.arena import Life, place
from hexsim.int8.programs.program import Program
from hexsim.int8.step import Work, Workspace


class IntegerSubnet:
    """Bound calls in execution order, and the tensors that enter and leave.

    Inside a call `threads` threads share the rows (0: `cores.default_threads`); the values do not
    depend on them. Several threads may call it, which then wait for each other. `packed` and
    `codes` are what takes its memory: calls with their weights, and tensors, which share theirs.
    """

    def __init__(
        self,
        calls: Iterable[BoundCall],
        inputs: Sequence[str],
        outputs: Sequence[str],
        threads: int = 1,
    ) -> None:
        called = list(map(_Call.of, calls))  # which lets go of each before it asks for the next
        operands = {x.name: x for call in called for x in (*call.inputs, call.output)}
        codes = _placed(called, inputs, outputs)
        self._inputs = {n: Entrance(operands[n].encoding, codes[n]) for n in inputs}
        self._outputs = {n: Exit(operands[n].encoding, codes[n]) for n in outputs}
        self._shapes = {name: operands[name].shape for name in inputs}
        self.packed = [call.prepared for call in called]
        self.codes = codes
        sizes = Workspace()
        _work(called, codes, sizes)
        work: list[Work] = [one.step for one in self._inputs.values()]
        work += _work(called, codes, Workspace(sizes.needed))
        work += [one.step for one in self._outputs.values()]
        self._program = Program(work, threads)
        self._turn = threading.Lock()

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs as float32, all arrays in stored order.

        Raises HexsimError for an input of another shape than the network's.
        """
        for name, shape in self._shapes.items():
            if inputs[name].shape != shape:
                raise HexsimError(
                    f"input '{name}' has shape {inputs[name].shape}, the network expects {shape}"
                )
        with self._turn:
            for name, entrance in self._inputs.items():
                entrance.take(inputs[name])
            results = {name: way_out.give() for name, way_out in self._outputs.items()}
            self._program.run()
            for entrance in self._inputs.values():
                entrance.release()
            for way_out in self._outputs.values():
                way_out.release()
            return results


@dataclass(frozen=True, eq=False)
class _Call:
    """What is left of a bound call, whose weights are packed now."""

    inputs: tuple[Operand, ...]
    output: Operand
    prepared: PreparedCall

    @classmethod
    def of(cls, call: BoundCall) -> _Call:
        """Pack the weights of a call."""
        return cls(call.inputs, call.output, prepare(call))

    def steps(self, codes: Mapping[str, Codes], workspace: Workspace) -> Sequence[Work]:
        """Its work on the tensors `codes`; raises HexsimError for one unlike its operand."""
        inputs = [_checked(x, codes[x.name] if x.codes is None else x.codes) for x in self.inputs]
        output = _checked(self.output, codes[self.output.name])
        return self.prepared.steps(inputs, output, workspace)


def _checked(operand: Operand, codes: Codes) -> Codes:
    """`codes`, which kernels take for a contiguous array of the operand's shape and type."""
    dtype = operand.encoding.dtype
    if (codes.shape, codes.dtype) != (operand.shape, dtype):
        raise HexsimError(
            f"tensor '{operand.name}' has {codes.dtype} codes of shape {codes.shape}, its encoding "
            f"and layer say {dtype} {operand.shape}; quantise the model again"
        )
    return np.ascontiguousarray(codes)


def _placed(
    calls: Sequence[_Call], inputs: Sequence[str], outputs: Sequence[str]
) -> dict[str, Codes]:
    """The tensors in memory; those that are not outputs share it."""
    tensors = {x.name: x for call in calls for x in (*call.inputs, call.output) if x.codes is None}
    starts, size = place(_lives(calls, inputs, outputs))
    arena = aligned(size)
    return {
        name: arena[starts[name] : starts[name] + _bytes(operand)]
        .view(operand.encoding.dtype)
        .reshape(operand.shape)
        for name, operand in tensors.items()
    }


def _work(calls: Sequence[_Call], codes: Mapping[str, Codes], workspace: Workspace) -> list[Work]:
    work: list[Work] = []
    for call in calls:
        workspace.next_call()
        work += call.steps(codes, workspace)
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
