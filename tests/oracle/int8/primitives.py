"""The steps of the arithmetic one by one, as hvx/primitives.c computes them, and what to ask."""

from enum import IntEnum

import numpy as np

from tests.oracle.int8 import qemu
from tests.oracle.int8.layout import up
from tests.oracle.int8.record import VECTOR, record

_MOST_VECTORS = 4096  # of a record, so that it fits the program's buffers


class Step(IntEnum):
    """As in hvx/primitives.c."""

    SCALE = 0
    SHIFT_LEFT = 1
    REQUANTIZE = 2
    DOT_UB_RUB = 3
    DOT_UB_UB = 4
    DOT_UB_B = 5
    MULTIPLY_HALVES = 6


def ask(step, version, *operands, low=0, high=255):
    """Result of a step as rows of 32 int32; operands are rows of one vector each.

    MULTIPLY_HALVES answers two rows for one.
    """
    records = []
    for first in range(0, len(operands[0]), _MOST_VECTORS):
        part = [x[first : first + _MOST_VECTORS] for x in operands]
        vectors = len(part[0])
        rows = 2 * vectors if step is Step.MULTIPLY_HALVES else vectors
        records.append(record(part, [step, vectors, low, high], rows * VECTOR))
    answer = b"".join(qemu.run("primitives", version, records))
    return np.frombuffer(answer, "<i4").reshape(-1, 32)


def codes(version, accumulator, multiplier, shift, low, high):
    """The whole requantise stage on flat arrays: one code per accumulator."""
    rows = [words(x) for x in (accumulator, multiplier, shift)]
    answer = ask(Step.REQUANTIZE, version, *rows, low=low, high=high)
    four = answer.view(np.uint8).reshape(-1, 4, 32)
    assert np.all(four == four[:, :1])  # the same accumulators four times
    return four[:, 0].reshape(-1)[: len(accumulator)]


def words(flat):
    """Values as rows of 32 int32, the last row filled with ones."""
    full = np.ones(up(len(flat), 32), np.int32)
    full[: len(flat)] = flat
    return full.reshape(-1, 32)


def edges(rng, count):
    """int32 with both signs: ends, powers of two and their neighbours, halves, and random ones."""
    powers = 2 ** np.arange(32, dtype=np.int64)
    near = np.concatenate([powers - 1, powers, powers + 1])
    halves = [0x8000, 0xFFFF, 0x7FFF8000, 0x7FFFFFFF, 0x40008000, 0x12348000, 0x5A00FFFF]
    random = rng.randint(-(2**31), 2**31, count, np.int64) >> rng.randint(0, 31, count)
    values = np.concatenate([near, -near, halves, np.negative(halves), random])
    return np.unique(np.clip(values, -(2**31), 2**31 - 1)).astype(np.int32)


def tail_cases():
    """Accumulators, multipliers and shifts: edges, and both sides of every code's boundary."""
    rng = np.random.RandomState(31)
    accumulator = edges(rng, 100)
    multiplier = edges(rng, 20)
    multiplier = multiplier[multiplier > 0]
    pairs = np.stack(np.meshgrid(accumulator, multiplier), axis=-1).reshape(-1, 2)
    wild = np.column_stack([pairs, rng.randint(0, 32, len(pairs))])
    kept = rng.permutation(len(wild))[:8000]
    some = rng.choice(multiplier[multiplier > 2**17], 24)
    boundary = np.concatenate([_boundaries(int(m)) for m in some])
    return np.concatenate([wild[kept], boundary]).astype(np.int32).T


def _boundaries(multiplier):
    """Least accumulator of each code, and the one before."""
    code = np.arange(1, 256, dtype=np.int64)
    least = -(-(code * 2**31 - 2**30) // multiplier)
    both = np.concatenate([least, least - 1])
    return np.column_stack([both, np.full_like(both, multiplier), np.zeros_like(both)])
