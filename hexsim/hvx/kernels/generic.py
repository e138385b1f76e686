"""The generic model, for layers without their own kernel model.

Every vector that the layer reads or writes costs one table lookup.
"""

from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import ceil_div, vectors
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the table lookup, in place of the unknown loop."""
    return (elementwise.table(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the vectors among the workers in equal parts."""
    (kernel,) = streams(call, target)
    moved = sum(vectors(shape) for shape in (*call.operands, *call.results))
    row = loop_work(kernel.cost, ceil_div(moved, target.workers))
    stage = row_stage(target.workers, row, target.workers, traffic, target.l2_bytes)
    return NodeWork((stage,), "generic")


MODEL = KernelModel(streams, work)
