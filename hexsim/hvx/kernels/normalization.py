"""Normalization, softmax, local response normalisation and batch norm.

Normalization: sums, a join, then the scaled codes; all workers share the rows (assumed). If each
statistic covers one pixel, the pixel is still in the cache in the second pass. Otherwise that reads
the tensor again, from DDR if it came from there.

Softmax: passes over each row (maximum, exponential, scale), two threads at most. In d32 four pixels
are four rows in one vector. A flat tensor is computed two rows at a time, an odd last one takes as
long as two. Source: Hexagon NN, op_softmax_d32.c, in C. A release may run the scalar code of
op_softmax.c, on the main thread, instead (`kernels.softmax_packets`).

Local response normalisation: one thread per batch item. Source: lrn_d32_hvx.S, op_lrn_d32.c (line
242). Batch norm that is not folded: a multiply-add per vector, two threads. Source:
op_batchnorm_d32.c, in C; it computes the padding on the left of each row.
"""

import math

from hexsim.graph.batches import as_nhwc
from hexsim.hvx.kernels._blocking import loop_work, per_vector_model, per_vector_stage, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target, is_16bit
from hexsim.hvx.layout import VECTOR_BYTES, ceil_div, depth_slices, is_spatial, row_vectors
from hexsim.hvx.streams import Kernel, listed, normalization
from hexsim.layers import BatchNorm, LocalResponseNorm, Normalization, Softmax
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, WorkItem


def normalization_streams(call: KernelCall[Normalization], target: Target) -> tuple[Kernel, ...]:
    """Return both passes over one vector."""
    if is_16bit(call):
        return listed("wide_sums", target.machine), listed("wide_scaled", target.machine)
    in_rows = len(call.operands[0]) - 1 in call.layer.axes
    scaled = listed("scaled" if in_rows else "scaled_by_channel", target.machine)
    return listed("sums", target.machine), scaled


def normalization_work(
    call: KernelCall[Normalization], target: Target, traffic: Traffic
) -> NodeWork:
    """Return a stage for each pass."""
    shape, parameters = call.results[0], Traffic(call.parameter_bytes)
    again = 0 if _in_a_pixel(call) else traffic.read_bytes
    moved = (Traffic(traffic.read_bytes), Traffic(again, traffic.write_bytes) + parameters)
    stages = tuple(
        per_vector_stage(shape, kernel.cost, target.workers, part, target)
        for kernel, part in zip(normalization_streams(call, target), moved, strict=True)
    )
    return NodeWork(stages, "kernel")


def _in_a_pixel(call: KernelCall[Normalization]) -> bool:
    shape = call.operands[0]
    _, height, width, _ = as_nhwc(shape)
    return call.layer.axes == (len(shape) - 1,) or height * width == 1


_THREADS = 2
"""At most, of a softmax and a batch norm. Source: Hexagon NN, the files above (documented)."""
_EDGE_PACKETS = 24
"""Packets of a row for masks of the last channels in each pass (inferred from counted ones)."""
_JOB_PACKETS = 40
"""Packets of entry and exit of a job (inferred as well)."""


def softmax_streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return all passes over one vector, and what lies between them."""
    spatial = is_spatial(call.results[0])
    steps = normalization.D32_STEPS if spatial else normalization.FLAT_STEPS
    passes = listed("softmax" if spatial else "softmax_flat", target.machine)
    return passes, normalization.statistics(target.machine, steps)


def softmax_work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Return jobs of rows, each with all passes, or scalar code of the main thread."""
    if target.softmax_packets:
        moved = row_stage(1, WorkItem(0), 1, traffic, target)
        packets = target.softmax_packets * math.prod(call.results[0])
        return NodeWork((moved,), "kernel", main_packets=packets)
    passes, between = (kernel.cost for kernel in softmax_streams(call, target))
    batch, height, width, channels = as_nhwc(call.results[0])
    if is_spatial(call.results[0]):
        rows, groups, of_group = batch * height, row_vectors(width), depth_slices(channels)
    else:
        rows, groups, of_group = ceil_div(batch, 2), 1, ceil_div(channels, VECTOR_BYTES)
    row = loop_work(passes, groups * of_group) + loop_work(between, groups)
    row += WorkItem(_EDGE_PACKETS * groups)
    return NodeWork((row_stage(rows, row, _THREADS, traffic, target, _JOB_PACKETS),), "kernel")


def _loop(call: KernelCall[LocalResponseNorm], target: Target) -> Kernel:
    """Return the loop of one vector with its neighbours, limited by the channels."""
    radius = min(call.layer.size // 2, call.results[0][-1] - 1)
    return normalization.local_response_norm_vector(target.machine, max(radius, 0))


MODELS: Models = {
    Normalization: KernelModel(normalization_streams, normalization_work, takes_16_bits=True),
    Softmax: KernelModel(softmax_streams, softmax_work),
    LocalResponseNorm: per_vector_model(_loop, lambda call, _: call.results[0][0]),
    BatchNorm: per_vector_model(
        lambda _, target: listed("batch_norm", target.machine), lambda call, target: _THREADS
    ),
}
