"""The source of the bytes of a vector when the axes of flat memory are permuted.

For 128 neighbouring bytes of the result this computes how long the runs are that are contiguous in
the source too, and how many vectors of the source contain them.
"""

import math
from collections.abc import Sequence

from hexsim.graph.ir import Shape
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.layout import VECTOR_BYTES, ceil_div
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.movement import move_loop, transpose


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
