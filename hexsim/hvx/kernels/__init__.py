"""Kernel models: the cost of each layer on the vector unit, as work items.

UserDefined: as many packets as the user states, in equal parts for the threads.

An operation works on one byte, and a packet has one vector instruction of 128 bytes for them
(assumed, because only the user knows the loop). Tensors pass L2 once.

One file per layer type; its table MODELS says which. A kernel decides how Hexagon NN blocks the
layer (`work`) and which instruction streams compute it (`streams`); the packets of its loops are
those of the scheduled streams.
"""

import math
from functools import lru_cache

from hexsim.discovery import joined
from hexsim.hvx.kernels._blocking import loop_work, prefetch_bytes, row_stage
from hexsim.hvx.kernels._model import KernelMemory, KernelModel, Models, Target, is_16bit, twice
from hexsim.hvx.kernels.any_convolution import copies_weights
from hexsim.hvx.layout import VECTOR_BYTES, ceil_div, vectors
from hexsim.hvx.streams import Kernel, listed
from hexsim.layers import Concat, Pooling, UserDefined
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, WorkItem

__all__ = [
    "MODELS",
    "Target",
    "activation_l2_bytes",
    "fetched_early",
    "kernel_streams",
    "memory_of",
    "node_work",
]


_REMEMBERED = 4096
"""Number of calls whose work is cached, for repeated simulations with other constants."""


def generic_streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the table lookup of a layer without its own model, in place of the unknown loop."""
    return (listed("table", target.machine),)


def generic_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Share the vectors among the workers in equal parts.

    Every vector that the layer reads or writes costs one table lookup.
    """
    (kernel,) = generic_streams(call, target)
    moved = sum(vectors(shape) for shape in (*call.operands, *call.results))
    row = loop_work(kernel.cost, ceil_div(moved, target.workers))
    return NodeWork((row_stage(target.workers, row, target.workers, traffic, target),), "generic")


_GENERIC = KernelModel(generic_streams, generic_work)


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
    return NodeWork((row_stage(threads, row, threads, traffic, target),), "user")


def _model(call: KernelCall) -> KernelModel:
    return _GENERIC if call.layer.generic_cost else MODELS[type(call.layer)]


def kernel_streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the instruction streams that one kernel call runs.

    A call of 16-bit activations without streams of its own gives the 8-bit ones.
    """
    return _model(call).streams(call, target)


def node_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return the work items of one kernel call; `traffic` is that of its activations in DDR.

    16-bit activations without streams of their own take twice the packets and bytes of the 8-bit
    kernels, reported as a generic cost.
    """
    if isinstance(call.layer, UserDefined):  # whose cost a user may change between two simulations
        return _node_work(call, target, traffic)
    return _cached_work(call, target.seen_by(call), traffic)


def _node_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    model = _model(call)
    work = model.work(call, target, traffic)
    return twice(work) if is_16bit(call) and not model.takes_16_bits else work


_cached_work = lru_cache(_REMEMBERED)(_node_work)


def fetched_early(before: KernelCall, call: KernelCall, target: Target) -> bool:
    """Tell whether the node of `before` starts the copy of the weights of `call`, the next one.

    On V66 a copy to VTCM runs by itself while the main thread goes on to the next node. Source:
    Hexagon NN, `earlywork_register` of op_supernode_new.c, op_maxpool_d32.c, op_avgpool_d32.c and
    op_concat_d32.c, and nn_graph_memcpy.h.
    """
    starts = isinstance(before.layer, Pooling | Concat) or copies_weights(before, target)
    return starts and copies_weights(call, target)


def activation_l2_bytes(call: KernelCall, target: Target) -> int:
    """Return the bytes of L2 that activations may occupy during a call.

    What its weights leave, and always the share that a prefetch of rows may fill.
    Source: Hexagon NN, hexagon/ops/src/op_supernode_new.c (2599-2765), op_superfc_d32.c (718-722).
    """
    least = prefetch_bytes(target.l2_bytes)
    return max(least, target.l2_bytes - memory_of(call, target).weight_bytes)


def memory_of(call: KernelCall, target: Target) -> KernelMemory:
    """Return the bytes that a kernel call occupies."""
    return _model(call).memory(call, target)


MODELS: Models = {
    UserDefined: KernelModel(user_defined_streams, user_defined_work, takes_16_bits=True),
    **joined(__name__, "MODELS"),
}
"""By layer type; one whose declaration says so has a generic cost instead."""
