"""Execution contexts: the memory and the command list of one inference of a subnet.

The contexts of a subnet share the packed weights, which are never written, and nothing else: each
may run while the others do.
"""

import math
import threading
from collections.abc import Iterable, Mapping, Sequence

from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray
from hexsim.int8.commands.arena import Life, place
from hexsim.int8.commands.command_list import KernelCommandList
from hexsim.int8.machine_code.memory import aligned
from hexsim.int8.packed_call import PackedCall
from hexsim.int8.quantize_dequantize import DequantizeOutput, QuantizeInput
from hexsim.int8.step import Work, Workspace
from hexsim.lowering import Operand
from hexsim.lowering.lowered_call import Codes


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
