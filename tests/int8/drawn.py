"""Hypothesis strategies for lowered calls, extremes included; comparison with the reference."""

import os
import weakref
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from hexsim.int8.commands import KernelCommandList
from hexsim.int8.dispatch import prepare
from hexsim.int8.step import Buffers, Step, Workspace
from hexsim.layers import Window
from hexsim.lowering import Operand, Requantize, Weights
from hexsim.quantization.encodings import Encoding
from tests.int8 import naive
from tests.int8.guarded_memory import (
    BEFORE,
    BEHIND,
    GuardedWorkspace,
    guarded,
    run_guarded,
)

SEEDS = st.integers(0, 2**32 - 1)
BITS = st.sampled_from([8, 8, 16])
CODES = {8: np.uint8, 16: np.uint16}


@st.composite
def weights(draw, shape):
    """Weights of any of the four types."""
    dtype = np.dtype(draw(st.sampled_from([np.uint8, np.int8, np.uint8, np.int8, "u2", "i2"])))
    top = np.iinfo(dtype).max
    zero_point = draw(st.sampled_from([0, top]) | st.integers(0, top)) if dtype.kind == "u" else 0
    return Weights(draw(arrays(shape, dtype)), zero_point, np.ones(shape[-1]))


def encoding(zero_point, delta=0.1, bits=8):
    top = 2**bits - 1
    return Encoding(bits, -zero_point * delta, (top - zero_point) * delta, delta, -zero_point)


@st.composite
def operands(draw, shape, name="x", bits=8):
    top = 2**bits - 1
    zero_point = draw(st.sampled_from([0, top]) | st.integers(0, top))
    return Operand(name, tuple(shape), encoding(zero_point, bits=bits))


@st.composite
def arrays(draw, shape, dtype=np.uint8):
    """Random values of the whole type, or its extremes: all least, all largest, alternating."""
    info = np.iinfo(dtype)
    pattern = draw(st.sampled_from(["random", "random", "low", "high", "alternating"]))
    if pattern == "random":
        return np.random.default_rng(draw(SEEDS)).integers(
            info.min, info.max, shape, dtype, endpoint=True
        )
    flat = np.full(int(np.prod(shape)), info.max if pattern == "high" else info.min, dtype)
    if pattern == "alternating":
        flat[1::2] = info.max
    return flat.reshape(shape)


@st.composite
def stages(draw, entries, bits=8, fraction_bits=0):
    """Any constants a requantise may have, or plausible ones that spread over all codes."""
    random = np.random.default_rng(draw(SEEDS))
    wild = draw(st.booleans())
    largest_shift = draw(st.sampled_from([1, 31])) if wild else 0
    limit = (2**31 - 1 if wild else 2**20) << fraction_bits
    top = 2**bits - 1
    low = draw(st.integers(0, top))
    kind = np.int64 if fraction_bits else np.int32
    return Requantize(
        preload=random.integers(-limit, limit, entries, kind, endpoint=True),
        multiplier=random.integers(1, 2**31 - 1 if wild else 2 ** (bits + 14), entries, np.int32),
        shift=random.integers(0, largest_shift, entries, np.int32, endpoint=True),
        low=low if wild else 0,
        high=draw(st.integers(low, top)) if wild else top,
        fraction_bits=fraction_bits,
    )


@st.composite
def windows(draw, height, width, *, most=4):
    """Windows with asymmetric pads, steps and dilations that fit an input of that size."""
    kernel, strides, dilations, begin, end = [], [], [], [], []
    for size in (height, width):
        k, d = draw(st.integers(1, most)), draw(st.integers(1, 2))
        before, after = draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))
        missing = (k - 1) * d + 1 - size - before - after
        kernel.append(k)
        dilations.append(d)
        strides.append(draw(st.integers(1, 3)))
        begin.append(before)
        end.append(after + max(missing, 0))
    return Window(
        tuple(kernel), tuple(strides), (*begin, *end), tuple(dilations), draw(st.booleans())
    )


def assert_equals_reference(call, inputs, kernels=("",)):
    """Run `call` with each choice of HEXSIM_KERNELS and compare with the reference, bit for bit.

    All memory of the kernels ends or begins at pages that must not be touched. A program of the
    call owns what it reads and writes.
    """
    expected = naive.run(call, inputs)
    assert expected.shape == call.output.shape
    for choice in kernels:
        with patch.dict(os.environ, {"HEXSIM_KERNELS": choice}):
            prepared = prepare(call)
        for pieces, side in ((1, BEHIND), (3, BEFORE)):
            codes = [guarded(x, side) for x in inputs]
            output = guarded(np.full(call.output.shape, 77, call.output.encoding.dtype), side)
            for work in prepared.steps(Buffers(codes, output, GuardedWorkspace(side))):
                run_guarded(work, pieces, side)
            np.testing.assert_array_equal(output, expected, err_msg=f"kernels '{choice}', {pieces}")
        answer = _of_program(prepared, inputs, expected.shape, output.dtype)
        np.testing.assert_array_equal(answer, expected, err_msg=f"kernels '{choice}', program")


class _Lent(Workspace):
    """Remembers the arrays that it lent, and keeps none."""

    def __init__(self):
        super().__init__()
        self.arrays = []

    def empty(self, shape, dtype):
        array = np.empty(shape, dtype)
        self.arrays.append(weakref.ref(array))
        return array


def _of_program(prepared, inputs, shape, dtype):
    """What a program writes when it alone is left of all that it was made with."""
    codes, workspace = [x.copy() for x in inputs], _Lent()
    output = np.full(shape, 77, dtype)
    program = KernelCommandList(prepared.steps(Buffers(codes, output, workspace)), threads=1)
    held = [weakref.ref(array) for array in (*codes, output)] + workspace.arrays
    del codes, output
    assert all(array() is not None for array in held)
    program.run()
    return held[len(inputs)]()


def in_pieces(work, pieces):
    """Do a step's rows as threads might: in pieces, the last one first."""
    if not isinstance(work, Step):
        work()
        return
    size = -(-work.rows // (pieces * work.grain)) * work.grain
    for first in reversed(range(0, work.rows, size)):
        work.piece(first, min(first + size, work.rows))
