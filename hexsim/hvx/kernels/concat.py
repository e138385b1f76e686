"""Concat: every input is rescaled to the encoding of the output.

Inputs of different range are rescaled, which is the usual case with encodings per tensor. A concat
along the channels of whole slices needs nothing else; slices that cross two inputs, and other axes,
cost the same loop for all vectors that they touch.

The loop multiplies each vector in the packet that loads it, so it waits for every load from L2.

Left out: producers that write straight into the output because their encoding is the same.
Source: Hexagon NN, scalemem_d32.S, op_concat_d32.c.
"""

from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._sixteen_bit import is_16bit
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._waiting import waiting_for_l2
from hexsim.hvx.layout import PIXELS, ceil_div, vectors
from hexsim.hvx.streams import Kernel, elementwise, halfwords
from hexsim.layers import Concat
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

_JOB_PACKETS = 60
"""Entry and exit of a job, with the addresses of its inputs."""


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop that converts one encoding to another."""
    return ((halfwords if is_16bit(call) else elementwise).rescale(target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Give each input to a worker; several streams prefetch."""
    (kernel,) = streams(call, target)
    batch, height, _, _ = as_nhwc(call.results[0])
    rows = batch * height
    moved = sum(vectors(shape) for shape in call.operands) * PIXELS // kernel.cost.pixels
    row = loop_work(kernel.cost, ceil_div(moved, rows), len(call.operands))
    workers = target.workers_of(len(call.operands))
    stage = row_stage(rows, row, workers, traffic, target.l2_bytes, _JOB_PACKETS, streams=workers)
    return NodeWork((waiting_for_l2(stage, 1, target.load_slots),), "kernel")


MODELS: Models = {Concat: KernelModel(streams, work, takes_16_bits=True)}
