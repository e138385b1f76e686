"""Kernels with the same cost for every vector of a tensor."""

from collections.abc import Callable
from typing import Any

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import PIXELS, ceil_div, depth_slices, padded_vectors, row_vectors
from hexsim.hvx.streams import Kernel, LoopCost
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage, WorkItem


def per_vector_stage(
    shape: Shape,
    cost: LoopCost,
    threads: int,
    traffic: Traffic,
    l2_bytes: int,
    *,
    padded: bool = False,
    sheet_packets: int = 0,
    call_packets: int = 0,
) -> Stage:
    """Spread the rows of `shape` over `threads`; `cost` is per `cost.pixels` pixels of a slice.

    A tensor without spatial axes has one row and is stored flat, 128 elements to a vector. padded:
    the kernel computes the padding on the left of each row too. sheet_packets: packets around the
    loop for each row of a slice, beyond its epilogue and prologue. call_packets: packets of a job.
    """
    batch, height, width, channels = as_nhwc(shape)
    if height == width == 1:
        row = loop_work(cost, ceil_div(channels, cost.pixels * cost.channels), 1)
        return row_stage(batch, row, threads, traffic, l2_bytes, call_packets)
    depth = depth_slices(channels)
    of_row = (padded_vectors if padded else row_vectors)(width)
    tiles = depth * ceil_div(of_row * PIXELS, cost.pixels)
    row = loop_work(cost, tiles, depth) + WorkItem(sheet_packets * depth)
    return row_stage(batch * height, row, threads, traffic, l2_bytes, call_packets)


def per_vector_model(
    loop: Callable[[KernelCall[Any], Target], Kernel],
    most_threads: Callable[[KernelCall[Any], Target], int] = lambda _, target: target.workers,
) -> KernelModel:
    """Return the model of a layer with one loop over the vectors of its result.

    Threads share the rows. The loop reads the parameters too, and computes the padding on the left.
    """

    def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
        return (loop(call, target),)

    def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
        shape, cost = call.results[0], loop(call, target).cost
        threads = min(most_threads(call, target), target.workers)
        read = traffic.reading(call.parameter_bytes)
        stage = per_vector_stage(shape, cost, threads, read, target.l2_bytes, padded=True)
        return NodeWork((stage,), "kernel")

    return KernelModel(streams, work)
