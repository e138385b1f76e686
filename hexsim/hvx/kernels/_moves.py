"""Layers that only move codes inside d32: every vector of the result is written.

Whole vectors are copied. If positions inside vectors move, a vector of the result is assembled from
neighbouring vectors of the source, as many as the step covers (`movement.networks`).
Source of the copy: Hexagon NN, vmemcpy_2d_h.S. The number of threads is that of layout changes
(assumed).

Layers that move elements in flat memory, with conversions from d32 and back.

Tensors without spatial axes are flat already. The number of threads is that of layout changes
(assumed). Source of the conversions: Hexagon NN, from_d32_h.S, to_d32_h.S.

The source of the bytes of a vector when the axes of flat memory are permuted.

For 128 neighbouring bytes of the result this computes how long the runs are that are contiguous in
the source too, and how many vectors of the source contain them.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from hexsim.graph.ir import Shape
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels._blocking import per_vector_stage
from hexsim.hvx.kernels._model import KernelModel, Target
from hexsim.hvx.layout import VECTOR_BYTES, ceil_div, is_spatial
from hexsim.hvx.streams import Kernel, elementwise, layout_change
from hexsim.hvx.streams.movement import move_loop, networks, transpose
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork

THREADS = 2
"""Threads that move codes (assumed, as for layout changes)."""
_PARTS = 8
"""Parts in which threads share flat memory (assumed)."""


def move_stream(target: Target, sources: int) -> Kernel:
    """Return the loop that copies one vector, or assembles it from several."""
    return elementwise.copy(target.machine) if sources == 1 else networks(target.machine, sources)


def move_work(call: KernelCall, target: Target, traffic: Traffic, sources: int) -> NodeWork:
    """Share the rows of the result among threads."""
    kernel = move_stream(target, sources)
    threads = min(THREADS, target.workers)
    stage = per_vector_stage(call.results[0], kernel.cost, threads, traffic, target.l2_bytes)
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
        steps.append((source, layout_change.from_d32(machine)))
    if move is not None:
        shape, kernel = move
        steps.append(((_PARTS, 1, 1, ceil_div(math.prod(shape), _PARTS)), kernel))
    if is_spatial(result):
        steps.append((result, layout_change.to_d32(machine)))
    return steps


def flat_work(steps: list[FlatStep], target: Target, traffic: Traffic) -> NodeWork:
    """Return a node with a stage for each step; each counts as one graph node."""
    threads = min(THREADS, target.workers)
    last = len(steps) - 1
    stages = tuple(
        per_vector_stage(
            shape,
            kernel.cost,
            threads,
            traffic.part(is_first=number == 0, is_last=number == last),
            target.l2_bytes,
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
