"""Seeded inputs: made-up data to calibrate and compare networks whose real data is not at hand.

Each input is a field like a photograph's after mean subtraction: smooth structure at several
scales plus fine noise, around zero, mostly within -3 to 3. Inputs differ clearly from one
another in level (per channel, like a colour cast), contrast and structure.
Left out: anything that looks like an object; the answers of a network to them mean nothing.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

GRID_SIZES = (2, 4, 8, 16)
"""Knots per axis of the smooth fields that are added up, coarse to fine."""


def seeded_inputs(
    shapes: Mapping[str, tuple[int, ...]], count: int, seed: int = 0
) -> list[dict[str, FloatArray]]:
    """Return `count` sets of float32 inputs, one array of the given shape per name.

    Set i of input `name` depends on `seed`, i and `name` only: asking for more sets does not
    change the first ones. Works for any rank; the two longest axes of a tensor of rank 3 or
    more are taken as the image, the others as independent channels.
    """
    return [
        {
            name: _field(np.random.default_rng((seed, index, zlib.crc32(name.encode()))), shape)
            for name, shape in shapes.items()
        }
        for index in range(count)
    ]


def as_bytes(field: FloatArray) -> FloatArray:
    """The same field as a picture that was not normalised: whole numbers 0 to 255 around 128."""
    return np.clip(np.rint(128 + 42 * field), 0, 255).astype(np.float32)


def _field(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Return one field of `shape`."""
    image = sorted(sorted(range(len(shape)), key=lambda axis: -shape[axis])[:2])
    if len(shape) < 3:
        image = []
    channels = [1 if axis in image else size for axis, size in enumerate(shape)]
    field = 0.6 * rng.standard_normal(channels) + np.zeros(shape)
    for size in GRID_SIZES if image else ():
        knots = [min(size, n) if axis in image else n for axis, n in enumerate(shape)]
        smooth = rng.standard_normal(knots)
        for axis in image:
            smooth = _stretch(smooth, axis, shape[axis])
        field += smooth / math.sqrt(len(GRID_SIZES))
    contrast = rng.uniform(0.6, 1.1)
    fine = 0.1 * rng.standard_normal(shape)
    return (contrast * (field + fine)).astype(np.float32)


def _stretch(field: npt.NDArray[np.float64], axis: int, size: int) -> npt.NDArray[np.float64]:
    """Interpolate `field` linearly along `axis` to `size` points."""
    knots = field.shape[axis]
    at = np.linspace(0, knots - 1, size)
    left = np.minimum(at.astype(int), max(knots - 2, 0))
    right = np.minimum(left + 1, knots - 1)
    part = (at - left).reshape([-1 if a == axis else 1 for a in range(field.ndim)])
    stretched: npt.NDArray[np.float64] = (1 - part) * field.take(left, axis)
    stretched += part * field.take(right, axis)
    return stretched
