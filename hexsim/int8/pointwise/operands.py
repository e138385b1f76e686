"""Operands of elementwise kernels, spread to the output's shape a chunk at a time.

An operand that lies as the output does is read where it is. Of any other, a chunk is copied into
memory of the thread's own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.addresses import array_at
from hexsim.int8.machine_code.jit import subroutine
from hexsim.int8.machine_code.record import record
from hexsim.int8.machine_code.words import Words
from hexsim.int8.pointwise.strided_copy import Paths, copy_elements, merged_axes
from hexsim.int8.prepared import Out
from hexsim.int8.step import Scratch
from hexsim.lowering.lowered_call import Codes, Int64

CHUNK = 4096
"""Elements at a time, few enough to stay in the L1 cache."""


@record("int64[:,::1],int64[::1],int64[:,::1]")
class Spread(NamedTuple):
    """Operands and how they lie: (address, elements) of each, sizes of axes, steps along them.

    The operands are words in a step, int64 in a kernel. The last row of steps is the output's.
    """

    operands: Any
    sizes: Int64
    steps: Int64


def spread(inputs: Sequence[Codes], output: Out) -> tuple[Spread, Scratch]:
    """Return arguments of `chunk`: the operands, and scratch for two of them."""
    shape = output.shape
    steps = [_steps(codes, shape) for codes in inputs]
    output_steps = tuple(step // output.itemsize for step in output.strides)
    sizes, merged = merged_axes(shape, [*steps, output_steps])
    operands = Words([[codes, codes.size] for codes in inputs])
    scratch = Scratch(2 * CHUNK, inputs[0].dtype)
    return Spread(operands, np.array(sizes, np.int64), np.array(merged, np.int64)), scratch


def _steps(codes: Codes, shape: Shape) -> tuple[int, ...]:
    """Return the elements from each to the next along the axes of `shape`, 0 where repeated."""
    steps = [
        0 if size == 1 else step // codes.itemsize
        for size, step in zip(codes.shape, codes.strides, strict=True)
    ]
    return (*[0] * (len(shape) - len(steps)), *steps)


@subroutine
def chunk(spread: Spread, scratch: Codes, i: int, first: int, last: int) -> Codes:
    """Return elements `first` to `last` - 1 of operand i, in place or copied into the scratch."""
    operands, sizes, steps = spread.operands, spread.sizes, spread.steps
    source: Codes = array_at(operands[i, 0], scratch, operands[i, 1])
    dense = True
    for axis in range(sizes.size):
        dense = dense and steps[i, axis] == steps[-1, axis]
    if dense:
        return source[first:last]
    paths = Paths(0, steps[i], -first, steps[-1], sizes)
    copy_elements(source, scratch, paths, first, last)
    return scratch[: last - first]
