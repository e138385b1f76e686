"""Reduce: a pass over all vectors of the input, and a last step per vector of the result.

The workers share the vectors of the result; each vector is computed by one worker.

ArgExtremum: a pass over all vectors of the input, and a last step per vector of the result.
"""

from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target
from hexsim.hvx.layout import ceil_div, vectors
from hexsim.hvx.streams import Kernel, listed, reduce
from hexsim.layers import ArgExtremum, Reduce
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def reduce_streams(call: KernelCall[Reduce], target: Target) -> tuple[Kernel, ...]:
    """Return the pass and the last step."""
    layer, machine = call.layer, target.machine
    inside = reduce.inside_of(layer.axes, len(call.operands[0]) - 1)
    if layer.kind in ("max", "min"):
        largest = layer.kind == "max"
        return (
            reduce.extremum_pass(machine, largest=largest),
            reduce.extremum_end(machine, inside, largest=largest),
        )
    return listed(f"sum_{inside}", machine), reduce.sum_end(machine, inside)


def reduce_work(call: KernelCall[Reduce], target: Target, traffic: Traffic) -> NodeWork:
    """Share the vectors of the result among the workers."""
    pass_kernel, end = reduce_streams(call, target)
    results = max(1, vectors(call.results[0]))
    row = loop_work(pass_kernel.cost, ceil_div(vectors(call.operands[0]), results), 1)
    row += loop_work(end.cost, 1)
    return NodeWork((row_stage(results, row, target.workers, traffic, target),), "kernel")


def arg_extremum_streams(call: KernelCall[ArgExtremum], target: Target) -> tuple[Kernel, ...]:
    """Return the pass and the last step."""
    layer, last = call.layer, len(call.operands[0]) - 1
    inside = reduce.inside_of((layer.axis,), last)
    return listed("place_pass", target.machine), reduce.place_end(target.machine, inside)


def arg_extremum_work(call: KernelCall[ArgExtremum], target: Target, traffic: Traffic) -> NodeWork:
    """Share the vectors of the result, with its reduced axis as 1, among the workers."""
    layer, (data, *_) = call.layer, call.operands
    pass_kernel, end = arg_extremum_streams(call, target)
    results = max(1, vectors((*data[: layer.axis], 1, *data[layer.axis + 1 :])))
    row = loop_work(pass_kernel.cost, ceil_div(vectors(data), results), 1)
    row += loop_work(end.cost, 1)
    return NodeWork((row_stage(results, row, target.workers, traffic, target),), "kernel")


MODELS: Models = {
    Reduce: KernelModel(reduce_streams, reduce_work),
    ArgExtremum: KernelModel(arg_extremum_streams, arg_extremum_work),
}
