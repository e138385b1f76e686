"""IntegerSubnet: a fixed-point subnet made ready to run, float32 at its edges.

Execution contexts: the memory and the command list of one inference of a subnet.

The contexts of a subnet share the packed weights, which are never written, and nothing else: each
may run while the others do.

Where activations lie: tensors that are never needed at the same time share memory.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence

from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray
from hexsim.int8.commands import KernelCommandList
from hexsim.int8.dispatch import PackedCall
from hexsim.int8.machine_code.arguments import aligned, whole_lines
from hexsim.int8.quantize_dequantize import DequantizeOutput, QuantizeInput
from hexsim.int8.step import PreparedCall, Work, Workspace
from hexsim.lowering import LoweredCall, Operand
from hexsim.lowering.lowered_call import Codes
from hexsim.records import dataclass


@dataclass(frozen=True)
class Life:
    """A tensor's bytes, and the first and last call during which they must not change."""

    bytes: int
    first: int
    last: int

    def meets(self, other: Life) -> bool:
        """Return whether both are needed during some call."""
        return self.first <= other.last and other.first <= self.last


def place(lives: Mapping[str, Life]) -> tuple[dict[str, int], int]:
    """Return where each tensor starts, in bytes, and how many bytes they take together.

    The largest come first, each in the lowest gap between those it meets.
    """
    starts: dict[str, int] = {}
    total = 0
    for name in sorted(lives, key=lambda name: -lives[name].bytes):
        life = lives[name]
        size = whole_lines(life.bytes)
        occupied = sorted(
            (start, start + whole_lines(lives[other].bytes))
            for other, start in starts.items()
            if life.meets(lives[other])
        )
        at = 0
        for start, end in occupied:
            if at + size <= start:
                break
            at = max(at, end)
        starts[name] = at
        total = max(total, at + size)
    return starts, total


class ExecutionContext:
    """Memory and command list of one inference at a time; threads that call it take turns.

    `threads` share the rows unless it runs alone. `codes` are the tensors, which share memory.
    """

    def __init__(
        self,
        calls: Sequence[PackedCall],
        inputs: Sequence[str],
        outputs: Sequence[str],
        threads: int,
    ) -> None:
        operands = {x.name: x for call in calls for x in (*call.inputs, call.output)}
        self.codes = codes = _placed(calls, inputs, outputs)
        self._inputs = {n: QuantizeInput(operands[n].encoding, codes[n]) for n in inputs}
        self._outputs = {n: DequantizeOutput(operands[n].encoding, codes[n]) for n in outputs}
        self._shapes = {name: operands[name].shape for name in inputs}
        sizes = Workspace()
        _work(calls, codes, sizes)
        work: list[Work] = [input_.step for input_ in self._inputs.values()]
        work += _work(calls, codes, Workspace(sizes.needed))
        work += [output.step for output in self._outputs.values()]
        self.commands = KernelCommandList(work, threads)
        self._turn = threading.Lock()

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs as float32, all arrays in stored order.

        Raises HexsimError for an input of another shape than the network's.
        """
        return self._run(inputs, alone=False)

    def run_alone(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the same outputs, computed by the calling thread alone."""
        return self._run(inputs, alone=True)

    def _run(self, inputs: Mapping[str, FloatArray], *, alone: bool) -> dict[str, FloatArray]:
        for name, shape in self._shapes.items():
            if inputs[name].shape != shape:
                raise HexsimError(
                    f"input '{name}' has shape {inputs[name].shape}, the network expects {shape}"
                )
        with self._turn:
            for name, quantize in self._inputs.items():
                quantize.take(inputs[name])
            results = {name: dequantize.give() for name, dequantize in self._outputs.items()}
            self.commands.run(alone=alone)
            for quantize in self._inputs.values():
                quantize.release()
            for dequantize in self._outputs.values():
                dequantize.release()
            return results


def _placed(
    calls: Sequence[PackedCall], inputs: Sequence[str], outputs: Sequence[str]
) -> dict[str, Codes]:
    """Return the tensors in one memory block, which all but the outputs share over time."""
    tensors = {x.name: x for call in calls for x in call.tensors}
    starts, size = place(_lives(calls, inputs, outputs))
    arena = aligned(size)
    return {
        name: arena[starts[name] : starts[name] + _bytes(operand)]
        .view(operand.encoding.dtype)
        .reshape(operand.shape)
        for name, operand in tensors.items()
    }


def _work(
    calls: Sequence[PackedCall], codes: Mapping[str, Codes], workspace: Workspace
) -> list[Work]:
    work: list[Work] = []
    for call in calls:
        workspace.next_call()
        work += call.steps(codes, workspace)
    return work


def _lives(
    calls: Sequence[PackedCall], inputs: Sequence[str], outputs: Iterable[str]
) -> dict[str, Life]:
    """Return the life of each tensor, from the call that writes it to the last that reads it.

    Outputs live to the end.
    """
    first = dict.fromkeys(inputs, 0)
    last = {}
    for index, call in enumerate(calls):
        first.setdefault(call.output.name, index)
        for operand in (*call.inputs, call.output):
            last[operand.name] = index
    last.update(dict.fromkeys(outputs, len(calls)))
    tensors = [x for call in calls for x in call.tensors]
    return {x.name: Life(_bytes(x), first[x.name], last[x.name]) for x in tensors}


def _bytes(operand: Operand) -> int:
    return math.prod(operand.shape) * operand.encoding.dtype.itemsize


class IntegerSubnet:
    """Lowered calls in execution order, and the tensors that enter and leave.

    Inside a call `threads` threads share the rows (0: `cores.default_threads`); the values do not
    depend on their number. Several threads may call it and then take turns; to run side by side
    they need an execution context each.
    """

    def __init__(
        self,
        calls: Iterable[LoweredCall],
        inputs: Sequence[str],
        outputs: Sequence[str],
        threads: int = 1,
    ) -> None:
        # Each call is packed and dropped before the next one is requested.
        self._calls = list(map(PackedCall.of, calls))
        self._boundary = tuple(inputs), tuple(outputs)
        self._contexts = [ExecutionContext(self._calls, *self._boundary, threads)]
        self._making = threading.Lock()

    @property
    def packed(self) -> list[PreparedCall]:
        """Return the calls with their weights, which take most of the memory."""
        return [call.prepared for call in self._calls]

    @property
    def codes(self) -> Mapping[str, Codes]:
        """Return the tensors of an inference, which take the rest of the memory."""
        return self._contexts[0].codes

    def run(self, inputs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return the outputs as float32, all arrays in stored order.

        Raises HexsimError for an input of another shape than the network's.
        """
        return self._contexts[0].run(inputs)

    def contexts(self, count: int) -> list[ExecutionContext]:
        """Return `count` execution contexts, whose `run_alone` gives the same values.

        Contexts that were made before come first; the first one is the one that `run` uses. An
        execution context keeps its memory as long as the subnet exists.
        """
        with self._making:
            while len(self._contexts) < count:
                self._contexts.append(ExecutionContext(self._calls, *self._boundary, threads=1))
            return self._contexts[:count]
