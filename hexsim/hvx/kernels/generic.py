"""The generic model, for layers without their own kernel model.

Every vector that the layer reads or writes costs one table lookup.

UserDefined: as many packets as the user states, in equal parts for the threads.

An operation works on one byte, and a packet has one vector instruction of 128 bytes for them
(assumed, because only the user knows the loop). Tensors pass L2 once.
"""

import math

from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target
from hexsim.hvx.layout import VECTOR_BYTES, ceil_div, vectors
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.layers import UserDefined
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, WorkItem


def generic_streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the table lookup, in place of the unknown loop."""
    return (elementwise.table(target.machine),)


def generic_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the vectors among the workers in equal parts."""
    (kernel,) = generic_streams(call, target)
    moved = sum(vectors(shape) for shape in (*call.operands, *call.results))
    row = loop_work(kernel.cost, ceil_div(moved, target.workers))
    stage = row_stage(target.workers, row, target.workers, traffic, target.l2_bytes)
    return NodeWork((stage,), "generic")


MODEL = KernelModel(generic_streams, generic_work)


def user_defined_streams(call: KernelCall[UserDefined], target: Target) -> tuple[Kernel, ...]:
    """Return no streams, because only the cost is known."""
    return ()


def user_defined_work(call: KernelCall[UserDefined], target: Target, traffic: Traffic) -> NodeWork:
    """Return one row for each thread that takes part."""
    cost = call.layer.cost("dsp", call.operands, call.results)
    assert cost is not None, "without a cost it is not placed on the vector unit"
    threads = min(cost.threads or target.workers, target.workers)
    vectors = cost.operations * call.activation_bits / 8 / VECTOR_BYTES
    row = WorkItem(
        packets=ceil_div(math.ceil(cost.cycles) + math.ceil(vectors), threads),
        l2_bytes=ceil_div(call.operand_bytes + call.result_bytes, threads),
    )
    return NodeWork((row_stage(threads, row, threads, traffic, target.l2_bytes),), "user")


MODELS: Models = {
    UserDefined: KernelModel(user_defined_streams, user_defined_work, takes_16_bits=True)
}
