"""Seeded weights: what the numbers in a synthetic network look like.

Filters are normal, each output channel at its own log-normal scale, as in trained networks:
the ranges that int8 meets differ from channel to channel. Dense filters are centred across
their input channels at each tap. After a ReLU all activations share a positive mean; filters
that answered to it would give every input nearly the same outputs, and after some layers the
same class.

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

CENTRED_FROM = 8
"""Fewest input channels at which filters are centred: fewer are images, already around zero."""


def generator(network: str, tensor: str) -> np.random.Generator:
    """Return the random generator of one tensor of one network."""
    return np.random.default_rng(zlib.crc32(f"{network}/{tensor}".encode()))


def channel_scales(rng: np.random.Generator, channels: int) -> FloatArray:
    """Return one positive factor per channel, root mean square 1 in expectation."""
    normal = rng.standard_normal(channels, dtype=np.float32)
    return np.exp(CHANNEL_SPREAD * normal - CHANNEL_SPREAD**2).astype(np.float32)


def filters(
    rng: np.random.Generator, shape: tuple[int, ...], std: float, scales: FloatArray
) -> FloatArray:
    """Return filters of `shape` (outputs, inputs per group, taps...).

    `std` is the standard deviation of a weight in a channel of scale 1, `scales` the channels'.
    """
    drawn = rng.standard_normal(shape, dtype=np.float32)
    if shape[1] >= CENTRED_FROM:
        drawn -= drawn.mean(axis=1, keepdims=True)
    drawn *= (std * scales).reshape(-1, *(1,) * (len(shape) - 1))
    return drawn


def around(rng: np.random.Generator, size: int, centre: float, std: float) -> FloatArray:
    """Return a normal vector of `size` values."""
    return centre + std * rng.standard_normal(size, dtype=np.float32)
