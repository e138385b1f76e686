"""Softmax: passes over each row (maximum, exponential, scale), two threads at most.

In d32 four pixels are four rows in one vector. A flat tensor is computed two rows at a time,
interleaved; the last of an odd number of rows takes as long as two.
Source: Hexagon NN, op_softmax_d32.c, in C.
"""

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.layout import VECTOR_BYTES, ceil_div, depth_slices, is_spatial, row_vectors
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.softmax import D32_STEPS, FLAT_STEPS, statistics, vector
from hexsim.layers import Softmax
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, WorkItem

_THREADS = 2
_EDGE_PACKETS = 24
"""Masks of the last channels, for the maximum, the sum and the store of a row."""
_JOB_PACKETS = 40
"""Entry and exit of a job."""


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return all passes over one vector, and what lies between them."""
    spatial = is_spatial(call.results[0])
    steps = D32_STEPS if spatial else FLAT_STEPS
    return vector(target.machine, flat=not spatial), statistics(target.machine, steps)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return jobs of rows, each with all passes."""
    passes, between = (kernel.cost for kernel in streams(call, target))
    batch, height, width, channels = as_nhwc(call.results[0])
    if is_spatial(call.results[0]):
        rows, groups, of_group = batch * height, row_vectors(width), depth_slices(channels)
    else:
        rows, groups, of_group = ceil_div(batch, 2), 1, ceil_div(channels, VECTOR_BYTES)
    row = loop_work(passes, groups * of_group) + loop_work(between, groups)
    row += WorkItem(_EDGE_PACKETS * groups)
    threads = min(_THREADS, target.workers)
    stage = row_stage(rows, row, threads, traffic, target.l2_bytes, _JOB_PACKETS)
    return NodeWork((stage,), "kernel")


MODELS: Models = {Softmax: KernelModel(streams, work)}
