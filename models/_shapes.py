"""Pictures of ten shapes, drawn from seeds: what the small trained networks were trained on.

A shape has a place, a size, an angle and a colour before a ground that changes from side to side,
with grain over both. Picture i depends on the seed and i alone. Left out: textures, perspective,
several shapes in a picture.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

SIZE = 32
"""Height and width in pixels."""

INPUT = "picture_of_a_shape"
"""Name of an input that reads these pictures; hexsim draws them for it if nobody gives others."""

CLASSES = (
    *("disc", "ring", "square", "frame", "triangle"),
    *("cross", "star", "crescent", "bars", "chequers"),
)

_GRAIN = 0.06
"""Standard deviation of the grain, of a range of 1 (ours: float is a little below 100 %)."""

Array = npt.NDArray[Any]


def draw(count: int, seed: int) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return `count` pictures (count, 3, 32, 32), each (byte - 128) / 128, and their classes."""
    pictures = np.empty((count, 3, SIZE, SIZE), np.float32)
    classes = np.arange(count) % len(CLASSES)
    for index in range(count):
        rng = np.random.default_rng((seed, index))
        pictures[index] = _picture(rng, CLASSES[classes[index]])
    return pictures, classes


def _picture(rng: np.random.Generator, shape: str) -> Array:
    radius = rng.uniform(7, 12)
    centre = rng.uniform(radius, SIZE - 1 - radius, 2)
    angle = rng.uniform(-np.pi, np.pi)
    rows, columns = np.mgrid[:SIZE, :SIZE]
    y, x = (rows - centre[0]) / radius, (columns - centre[1]) / radius
    u, v = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    inside = np.clip(0.5 - _distance(shape, u, v) * radius, 0, 1)[None]
    ground, colour = rng.uniform(0.1, 0.9, (2, 3, 1, 1))
    strength = rng.uniform(0.25, 0.5)
    colour = ground + strength * np.where(colour > ground, 1, -1) * rng.uniform(0.6, 1, (3, 1, 1))
    slope = rng.uniform(-0.15, 0.15, (2, 3, 1, 1))
    ground = ground + slope[0] * (rows / SIZE - 0.5) + slope[1] * (columns / SIZE - 0.5)
    values = ground + inside * (colour - ground) + _GRAIN * rng.standard_normal((3, SIZE, SIZE))
    picture: Array = (np.rint(np.clip(values, 0, 1) * 255) - 128) / 128
    return picture.astype(np.float32)


def _distance(shape: str, u: Array, v: Array) -> Array:
    """Return about how far each point is outside the shape, in radii; below 0 inside."""
    far, box = np.hypot(u, v), np.maximum(np.abs(u), np.abs(v))
    angle = np.arctan2(v, u)
    square = box - 0.8
    match shape:
        case "disc":
            return far - 0.9
        case "ring":
            return np.abs(far - 0.75) - 0.2
        case "square":
            return square
        case "frame":
            return np.abs(box - 0.65) - 0.18
        case "triangle":
            third = 2 * np.pi / 3
            return np.asarray(far * np.cos((angle + np.pi) % third - third / 2) - 0.5)
        case "cross":
            return np.maximum(np.minimum(np.abs(u), np.abs(v)) - 0.25, box - 0.95)
        case "star":
            return np.asarray(far - 0.65 - 0.3 * np.cos(5 * angle))
        case "crescent":
            return np.maximum(far - 0.95, 0.75 - np.hypot(u - 0.5, v))
        case "bars":
            return np.maximum(square - 0.1, np.abs((u + 0.9) % 0.72 - 0.36) - 0.18)
        case _:
            return np.maximum(square - 0.1, 0.3 * np.sin(3.5 * u) * np.sin(3.5 * v))
