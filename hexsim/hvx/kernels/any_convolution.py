"""Convolution: dense, grouped or depthwise, each with its own model.

Grouped convolution: slices of the input, a convolution each, and a concat.

Hexagon NN has no grouped kernel; the graph is rewritten when it is prepared. Every slice and the
concat copy their tensors, and each small convolution has its own padding and its own node.

Source: Hexagon NN, hexagon/src/expand_grouped_conv_nodes.c.
"""

from typing import cast

from hexsim.graph.ir import Shape
from hexsim.hvx.kernels import convolution, depthwise_convolution
from hexsim.hvx.kernels._blocking import loop_work, row_stage
from hexsim.hvx.kernels._model import KernelModel, Models, Target, twice_stage
from hexsim.hvx.kernels.convolution import DenseShape, cost_model, dense_stage, dense_streams
from hexsim.hvx.layout import ceil_div, vectors
from hexsim.hvx.streams import Kernel, listed
from hexsim.layers import Convolution
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork, Stage


def form(call: KernelCall[Convolution]) -> KernelModel:
    """Return the model of one convolution."""
    if call.is_depthwise:
        return depthwise_convolution.MODEL
    return GROUPED if call.layer.groups > 1 else convolution.MODEL


def copies_weights(call: KernelCall, target: Target) -> bool:
    """Tell whether a call is one dense convolution whose weights V66 copies to VTCM."""
    if not isinstance(call.layer, Convolution):
        return False
    of_weights = cast("KernelCall[Convolution]", call)
    is_dense = form(of_weights) is convolution.MODEL
    return is_dense and convolution.blocking(of_weights, target).form == "v66"


MODELS: Models = {
    Convolution: KernelModel(
        lambda call, target: form(call).streams(call, target),
        lambda call, target, traffic: form(call).work(call, target, traffic),
        lambda call, target: form(call).memory(call, target),
        takes_16_bits=True,
    )
}


def streams(call: KernelCall[Convolution], target: Target) -> tuple[Kernel, ...]:
    """Return the copy of slices and concat, and the loops of one group."""
    group_streams = dense_streams(DenseShape.of(call, call.layer), target)
    return (listed("copy", target.machine), *group_streams)


def work(call: KernelCall[Convolution], target: Target, traffic: Traffic) -> NodeWork:
    """Return slice nodes, convolution nodes and a concat node, one after another."""
    shape, groups = DenseShape.of(call, call.layer), call.layer.groups

    def copied(whole: Shape, channels: int, rows: int, moved: Traffic) -> Stage:
        tiles = ceil_div(groups * vectors((*whole[:-1], channels)), rows)
        row = loop_work(listed("copy", target.machine).cost, tiles)
        stage = row_stage(rows, row, target.workers, moved, target)
        return twice_stage(stage) if shape.wide else stage

    reads = traffic.part(is_first=True, is_last=False)
    writes = traffic.part(is_first=False, is_last=True)
    split = copied(call.operands[0], shape.in_channels, shape.in_height, reads)
    join = copied(call.results[0], shape.channels, shape.rows, writes)
    stages = (split, *(dense_stage(shape, target, Traffic()),) * groups, join)
    return NodeWork(stages, cost_model(shape, target), nodes=2 * groups + 1)


GROUPED = KernelModel(streams, work, convolution.MODEL.memory, takes_16_bits=True)
