"""Seeded weights: what the numbers in a synthetic network look like.

Filters are normal, each output channel at its own log-normal scale, as in trained networks:
the ranges that int8 meets differ from channel to channel. Dense filters are centred across
their input channels at each tap. After a ReLU all activations share a positive mean; filters
that answered to it would give every input nearly the same outputs, and after some layers the
same class. Depthwise filters are largest at their centre, so that thirteen of them in a row do
not turn an image into noise.

Each array is drawn from its own seed, made from the network's and the tensor's name, so no
array depends on which others were drawn before it. Left out: any structure learnt from data.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]

CHANNEL_SPREAD = 0.25
"""Standard deviation of the natural logarithm of a channel's scale (assumed)."""

FALL_OFF = 0.2
"""Size of a depthwise filter's tap relative to its neighbour nearer the centre (assumed)."""

CENTRED_FROM = 8
"""Fewest input channels at which filters are centred: fewer are images, already around zero."""


def generator(network: str, tensor: str) -> np.random.Generator:
    """Return the random generator of one tensor of one network."""
    return np.random.default_rng(zlib.crc32(f"{network}/{tensor}".encode()))


def channel_scales(rng: np.random.Generator, channels: int) -> FloatArray:
    """Return one positive factor per channel, root mean square 1 in expectation."""
    normal = rng.standard_normal(channels, dtype=np.float32)
    scales: FloatArray = np.exp(CHANNEL_SPREAD * normal - np.float32(CHANNEL_SPREAD**2))
    return scales


def filters(
    rng: np.random.Generator, shape: tuple[int, ...], std: float, scales: FloatArray
) -> FloatArray:
    """Return filters of `shape` (outputs, inputs per group, taps...).

    `std` is the standard deviation of a weight in a channel of scale 1, `scales` the channels'.
    """
    drawn = rng.standard_normal(shape, dtype=np.float32)
    if shape[1] == 1 and len(shape) == 4:
        drawn *= _window(shape[2], shape[3])
    if shape[1] >= CENTRED_FROM:
        drawn -= drawn.mean(axis=1, keepdims=True)
    drawn *= (np.float32(std) * scales).reshape(-1, *(1,) * (len(shape) - 1))
    return drawn


def around(rng: np.random.Generator, size: int, centre: float) -> FloatArray:
    """Return a vector of `size` normal values about `centre`, a tenth of it their deviation."""
    relative = 1 + np.float32(0.1) * rng.standard_normal(size, dtype=np.float32)
    return np.float32(centre) * relative


def _window(height: int, width: int) -> FloatArray:
    """Return factors for a filter's taps, of mean square 1, that fall off from its centre."""
    rows, columns = (FALL_OFF ** np.abs(np.arange(n) - n // 2) for n in (height, width))
    window: FloatArray = np.outer(rows, columns).astype(np.float32)
    window /= np.sqrt(np.mean(np.square(window)))
    return window
