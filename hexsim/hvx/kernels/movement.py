"""Layers that move codes: changes of layout, parts, repeats and concatenations.

Inside d32 whole vectors are copied. If positions inside vectors move, a vector of the result is
assembled from neighbouring vectors of the source, as many as the step covers (`networks`). Other
moves are in flat memory, with conversions from d32 and back: a permute moves runs of bytes, passes
vectors through networks, or transposes blocks of bytes, whichever is cheapest; a shuffle permutes
groups; depth to space moves runs of channels, or bytes where the channel precedes the position in
the block; a gather or tile that leaves no whole vectors moves runs of all inner axes. Tensors
without spatial axes are flat already. The number of threads is that of layout changes (assumed).

Concat: every input is rescaled to the encoding of the output, the usual case with encodings per
tensor. Slices that cross two inputs, and other axes than the channels, cost the same loop for all
vectors that they touch. It multiplies each vector in the packet that loads it, so it waits for
every load from L2. Left out: producers that write straight into the output because their encoding
is the same.

Source: Hexagon NN, vmemcpy_2d_h.S, from_d32_h.S, to_d32_h.S, scalemem_d32.S, op_concat_d32.c.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from hexsim.graph.batches import as_nhwc
from hexsim.graph.ir import Shape
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels._blocking import loop_work, per_vector_stage, row_stage, waiting_for_l2
from hexsim.hvx.kernels._model import KernelModel, Models, Target, of_width
from hexsim.hvx.layout import PIXELS, VECTOR_BYTES, ceil_div, is_spatial, vector_sizes, vectors
from hexsim.hvx.streams import Kernel, listed
from hexsim.hvx.streams.movement import move_loop, transpose
from hexsim.layers import (
    ChannelShuffle,
    Concat,
    DepthToSpace,
    Gather,
    Pad,
    Permute,
    Reshape,
    SpaceToDepth,
    StridedSlice,
    Tile,
)
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

THREADS = 2
"""Threads that move codes (assumed, as for layout changes)."""
_PARTS = 8
"""Parts in which threads share flat memory (assumed)."""


def move_stream(target: Target, sources: int) -> Kernel:
    """Return the loop that copies one vector, or assembles it from several."""
    if sources == 1:
        return listed("copy", target.machine)
    return listed("networks", target.machine, sources)


def move_work(call: KernelCall, target: Target, traffic: Traffic, sources: int) -> NodeWork:
    """Share the rows of the result among threads."""
    kernel = move_stream(target, sources)
    stage = per_vector_stage(call.results[0], kernel.cost, THREADS, traffic, target)
    return NodeWork((stage,), "kernel")


def move_model(sources: Callable[[KernelCall[Any]], int]) -> KernelModel:
    """Return the model of a layer that takes so many input vectors for one of the result."""
    return KernelModel(
        lambda call, target: (move_stream(target, sources(call)),),
        lambda call, target, traffic: move_work(call, target, traffic, sources(call)),
    )


FlatStep = tuple[Shape, Kernel]
"""A shape, and the loop over its vectors."""


def flat_steps(call: KernelCall, machine: HvxMachine, move: FlatStep | None) -> list[FlatStep]:
    """Return `move` and the changes of layout around it; the list may be empty.

    The move works on flat memory: its shape is divided in rows of bytes without padding.
    """
    source, result = call.operands[0], call.results[0]
    steps: list[FlatStep] = []
    if is_spatial(source):
        steps.append((source, listed("from_d32", machine)))
    if move is not None:
        shape, kernel = move
        steps.append(((_PARTS, 1, 1, ceil_div(math.prod(shape), _PARTS)), kernel))
    if is_spatial(result):
        steps.append((result, listed("to_d32", machine)))
    return steps


def flat_work(steps: list[FlatStep], target: Target, traffic: Traffic) -> NodeWork:
    """Return a node with a stage for each step; each counts as one graph node."""
    last = len(steps) - 1
    stages = tuple(
        per_vector_stage(
            shape,
            kernel.cost,
            THREADS,
            traffic.part(is_first=number == 0, is_last=number == last),
            target,
        )
        for number, (shape, kernel) in enumerate(steps)
    )
    return NodeWork(stages, "kernel", nodes=len(stages))


def flat_model(
    steps: Callable[[KernelCall[Any], Target], list[FlatStep]],
    whole_vectors: Callable[[KernelCall[Any]], bool] = lambda _: False,
) -> KernelModel:
    """Return the model of a layer that has these steps, or copies `whole_vectors`."""

    def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
        if whole_vectors(call):
            return (move_stream(target, 1),)
        return tuple(kernel for _, kernel in steps(call, target))

    def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
        if whole_vectors(call):
            return move_work(call, target, traffic, 1)
        return flat_work(steps(call, target), target, traffic)

    return KernelModel(streams, work)


def permuting(
    machine: HvxMachine, split: Shape, permutation: Sequence[int]
) -> tuple[Shape, Kernel]:
    """Return the shape and the loop that permute a tensor viewed in the shape `split`.

    Whole blocks of 128 x 128 bytes are transposed if that is cheaper; the shape is then that of
    the blocks, with padding.
    """
    result = tuple(split[axis] for axis in permutation)
    run, sources = origin(split, permutation)
    kernel = move_loop(machine, run, sources)
    if run > 1 or not result:
        return result, kernel
    blocks = _blocks(split, permutation)
    transposing = transpose(machine)
    tiles = math.prod(blocks) // (transposing.cost.pixels * transposing.cost.channels)
    vectors = ceil_div(math.prod(result), VECTOR_BYTES)
    return (
        (blocks, transposing)
        if tiles * transposing.cost.tile < vectors * kernel.cost.tile
        else (result, kernel)
    )


def origin(split: Shape, permutation: Sequence[int]) -> tuple[int, int]:
    """Return (bytes of a run, vectors of the source) of one vector of the result."""
    result = tuple(split[axis] for axis in permutation)
    strides = [math.prod(split[axis + 1 :]) for axis in permutation]
    size = math.prod(result)
    middle = size // 2 // VECTOR_BYTES * VECTOR_BYTES
    spread = 1
    for first in {0, middle}:
        places = [
            _place(at, result, strides) for at in range(first, min(first + VECTOR_BYTES, size))
        ]
        spread = max(spread, len({place // VECTOR_BYTES for place in places}))
    run = 1
    for axis, stride in zip(reversed(result), reversed(strides), strict=True):
        if axis == 1:
            continue
        if stride != run:
            break
        run *= axis
    return run, spread


def _place(at: int, result: Shape, strides: Sequence[int]) -> int:
    """Return the index in the source of element `at` of the result."""
    place = 0
    for size, stride in zip(reversed(result), reversed(strides), strict=True):
        at, index = divmod(at, size)
        place += index * stride
    return place


def _blocks(split: Shape, permutation: Sequence[int]) -> Shape:
    """Return (1, bytes) of the blocks; the innermost axes of both sides are padded to 128."""
    columns, rows = split[-1], split[permutation[-1]]
    others = math.prod(split) // max(1, columns * rows)
    filled = ceil_div(columns, VECTOR_BYTES) * ceil_div(rows, VECTOR_BYTES)
    return 1, others * filled * VECTOR_BYTES * VECTOR_BYTES


def _layout_change_steps(call: KernelCall, target: Target) -> list[FlatStep]:
    layer, source, machine = call.layer, call.operands[0], target.machine
    move = None
    if isinstance(layer, Permute):
        move = permuting(machine, source, layer.permutation)
    elif isinstance(layer, ChannelShuffle):
        last = len(source) - 1
        split = (*source[:-1], layer.groups, source[-1] // layer.groups)
        move = permuting(machine, split, (*range(last), last + 1, last))
    return flat_steps(call, machine, move) or [(call.results[0], listed("copy", machine))]


def _blocks_steps(call: KernelCall[DepthToSpace | SpaceToDepth], target: Target) -> list[FlatStep]:
    split, permutation = call.layer.view(call.operands[0])
    return flat_steps(call, target.machine, permuting(target.machine, split, permutation))


def _gather_steps(call: KernelCall[Gather], target: Target) -> list[FlatStep]:
    source, axis = call.operands[0], call.layer.axis
    run = math.prod(source[axis + 1 :])
    sources = ceil_div(source[axis] * run, VECTOR_BYTES) + 1
    move = move_loop(target.machine, run, sources)
    return flat_steps(call, target.machine, (call.results[0], move))


def _gather_whole_vectors(call: KernelCall[Gather]) -> bool:
    return call.layer.axis not in vector_sizes(call.operands[0])


_SOURCES = 2


def _tile_steps(call: KernelCall[Tile], target: Target) -> list[FlatStep]:
    repeats, source = call.layer.repeats, call.operands[0]
    innermost = max((axis for axis, times in enumerate(repeats) if times > 1), default=0)
    run = math.prod(source[innermost:])
    move = move_loop(target.machine, run, _SOURCES)
    return flat_steps(call, target.machine, (call.results[0], move))


def _tile_whole_vectors(call: KernelCall[Tile]) -> bool:
    """Tell whether repeats inside vectors are by whole vectors."""
    repeats, source, inside = call.layer.repeats, call.operands[0], vector_sizes(call.operands[0])
    if not source or inside != vector_sizes(call.results[0]):
        return False
    return all(repeats[axis] == 1 or source[axis] % size == 0 for axis, size in inside.items())


def _pad_sources(call: KernelCall[Pad]) -> int:
    """Return the number of input vectors for one vector of the result."""
    layer = call.layer
    inside = vector_sizes(call.results[0])
    if layer.mode != "constant":
        return 2 if any(layer.begins[axis] or layer.ends[axis] for axis in inside) else 1
    return 1 if all(layer.begins[axis] % size == 0 for axis, size in inside.items()) else 2


def _strided_slice_sources(call: KernelCall[StridedSlice]) -> int:
    """Return the number of input vectors for one vector of the result."""
    layer, inside = call.layer, vector_sizes(call.operands[0])
    sources = 1
    for part in layer.parts:
        if part.axis in inside and (part.step > 1 or part.start % inside[part.axis]):
            sources *= max(2, part.step)
    return sources


_JOB_PACKETS = 60
"""Packets of a job, with the addresses of its inputs (inferred from counted ones)."""


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """Return the loop that converts one encoding to another."""
    return (listed(of_width("rescale", call), target.machine),)


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """Give each input to a worker; several streams prefetch."""
    (kernel,) = streams(call, target)
    batch, height, _, _ = as_nhwc(call.results[0])
    rows = batch * height
    moved = sum(vectors(shape) for shape in call.operands) * PIXELS // kernel.cost.pixels
    row = loop_work(kernel.cost, ceil_div(moved, rows), len(call.operands))
    workers = target.workers_of(len(call.operands))
    stage = row_stage(rows, row, workers, traffic, target, _JOB_PACKETS, streams=workers)
    return NodeWork((waiting_for_l2(stage, 1, target.load_slots),), "kernel")


MODELS: Models = {
    **dict.fromkeys((ChannelShuffle, Permute, Reshape), flat_model(_layout_change_steps)),
    **dict.fromkeys((DepthToSpace, SpaceToDepth), flat_model(_blocks_steps)),
    Gather: flat_model(_gather_steps, _gather_whole_vectors),
    Tile: flat_model(_tile_steps, _tile_whole_vectors),
    Pad: move_model(_pad_sources),
    StridedSlice: move_model(_strided_slice_sources),
    Concat: KernelModel(streams, work, takes_16_bits=True),
}
