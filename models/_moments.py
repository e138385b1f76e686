"""Moments: how large and how far from zero the values of a tensor are expected to be.

The builder carries them from tensor to tensor, one mean and one standard deviation for each
channel. They set the scale at which every layer's weights are drawn, so that the next
activation stays in range, and the statistics of every batch norm, so that these agree with what
it will see; and all that before a large weight exists. Values are taken as normal, channels as
independent, neighbouring pixels of one channel as correlated by `CORRELATION`.

Left out: what padding does to variances, the upper bound of ReLU6, the ends of a hard sigmoid, and
what a max pool does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hexsim.records import dataclass

from ._weights import FloatArray

CORRELATION = 0.5
"""Correlation of the pixels of one channel within a window (assumed)."""


AVERAGING = 1 / 6
"""The mean of n pixels deviates n^-AVERAGING as much as one: between 0, when all are equal, and
1/2, when they are independent (assumed)."""

_NODES = 32
"""Values of a normal variable at which a function is evaluated."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Expected mean and standard deviation of each channel, over pixels and inputs."""

    mean: FloatArray
    std: FloatArray

    @property
    def power(self) -> float:
        """Expected square, over all channels."""
        return float(np.mean(self.mean**2 + self.std**2))

    def scaled(self, factor: float | FloatArray) -> Moments:
        """Moments of the values times `factor`, one for all channels or one each."""
        return Moments(self.mean * factor, self.std * factor)

    def relu(self) -> Moments:
        """Moments of max(x, 0), in closed form."""
        t = self.mean / self.std
        density = np.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
        below = np.array([0.5 + 0.5 * math.erf(v) for v in t / math.sqrt(2)], np.float32)
        mean = self.mean * below + self.std * density
        power = (self.mean**2 + self.std**2) * below + self.mean * self.std * density
        variance = np.maximum(power - mean**2, np.float32(0))
        return Moments(mean.astype(np.float32), np.sqrt(variance).astype(np.float32))

    def hard_sigmoid(self) -> Moments:
        """Moments of x / 6 + 1/2, whose ends at 0 and 1 few values reach."""
        middle = self.mean / np.float32(6) + np.float32(0.5)
        return Moments(np.clip(middle, 0, 1).astype(np.float32), self.std / np.float32(6))

    def hard_swish(self) -> Moments:
        """Moments of x (x + 3) / 6, as the hard sigmoid without its ends gives it."""
        mean, variance = self.mean, np.square(self.std)
        spread = variance * (2 * variance + np.square(2 * mean + 3))
        return Moments(
            (mean * (mean + 3) + variance) / np.float32(6), np.sqrt(spread) / np.float32(6)
        )

    def mapped(self, function: Callable[[FloatArray], FloatArray]) -> Moments:
        """Moments of an element-wise function, by a Gauss-Hermite sum over the normal values."""
        at, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        shares = (weights / weights.sum()).astype(np.float32)
        values = function(self.mean + self.std * at.astype(np.float32)[:, None])
        mean = shares @ values
        return Moments(mean, np.sqrt(shares @ np.square(values - mean)))

    def times(self, other: Moments) -> Moments:
        """Moments of the product of two independent tensors."""
        power = (self.mean**2 + self.std**2) * (other.mean**2 + other.std**2)
        mean = self.mean * other.mean
        return Moments(mean, np.sqrt(power - mean**2))

    def plus(self, other: Moments) -> Moments:
        """Moments of the sum of two independent tensors."""
        return Moments(self.mean + other.mean, np.hypot(self.std, other.std))

    def averaged(self, pixels: int) -> Moments:
        """Moments of the mean of `pixels` pixels."""
        return Moments(self.mean, self.std * np.float32(pixels**-AVERAGING))

    def flattened(self, pixels: int) -> Moments:
        """Moments of the rows in which each channel's `pixels` have become features."""
        return Moments(self.mean.repeat(pixels), self.std.repeat(pixels))

    def response_mean(self, weight: FloatArray, groups: int, coverage: FloatArray) -> FloatArray:
        """Return the mean of each output of a layer with `weight` on this tensor.

        `weight` has the shape (outputs, inputs per group, taps...). `coverage` is, for each tap,
        the share of outputs for which it lies on the image and not on the padding around it.
        """
        sums: npt.NDArray[np.float64] = np.einsum(
            "goik,k,gi->go",
            _by_group(weight, groups),
            coverage.astype(np.float64),
            self.mean.reshape(groups, -1),
        )
        return sums.ravel().astype(np.float32)

    def response_variance(self, weight: FloatArray, groups: int) -> FloatArray:
        """Return the variance of each output of a layer with `weight`, away from the padding."""
        taps = _by_group(weight, groups)
        alone = np.einsum("goik,goik->goi", taps, taps, dtype=np.float64)
        together = np.square(taps.sum(axis=3, dtype=np.float64))
        spread = CORRELATION * together + (1 - CORRELATION) * alone
        sums: npt.NDArray[np.float64] = np.einsum(
            "goi,gi->go", spread, np.square(self.std).reshape(groups, -1)
        )
        return sums.ravel().astype(np.float32)


def joined(parts: Sequence[Moments]) -> Moments:
    """Moments of tensors joined along their channels."""
    return Moments(
        np.concatenate([part.mean for part in parts]), np.concatenate([part.std for part in parts])
    )


def _by_group(weight: FloatArray, groups: int) -> FloatArray:
    """Return `weight` as (groups, outputs per group, inputs per group, taps)."""
    outputs, inputs = weight.shape[:2]
    return weight.reshape(groups, outputs // groups, inputs, -1)
