"""Reduce: a pass over all vectors of the input, and a last step per vector of the result.

The workers share the vectors of the result; each vector is computed by one worker.
"""

from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import ceil_div, vectors
from hexsim.hvx.streams import Kernel, reduce
from hexsim.layers import Reduce
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall[Reduce], target: Target) -> tuple[Kernel, ...]:
    """Return the pass and the last step."""
    layer, machine = call.layer, target.machine
    inside = reduce.inside_of(layer.axes, len(call.operands[0]) - 1)
    if layer.kind in ("max", "min"):
        largest = layer.kind == "max"
        return (
            reduce.extremum_pass(machine, largest=largest),
            reduce.extremum_end(machine, inside, largest=largest),
        )
    return reduce.sum_pass(machine, inside), reduce.sum_end(machine, inside)


def work(call: KernelCall[Reduce], target: Target, traffic: Traffic) -> NodeWork:
    """Share the vectors of the result among the workers."""
    pass_kernel, end = streams(call, target)
    results = max(1, vectors(call.results[0]))
    row = loop_work(pass_kernel.cost, ceil_div(vectors(call.operands[0]), results), 1)
    row += loop_work(end.cost, 1)
    return NodeWork((row_stage(results, row, target.workers, traffic, target.l2_bytes),), "kernel")


MODELS: Models = {Reduce: KernelModel(streams, work)}
