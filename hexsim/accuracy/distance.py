"""The distance between two streams of arrays, in sums that do not grow with the stream."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

BLOCK = 1 << 16
"""Elements that are taken at once: their doubles stay in a cache, those of a large tensor do not.
"""


@dataclass(slots=True)
class Distance:
    """Sums over all pairs of a reference array and its stand-in that were added, in float64."""

    signal: float = 0.0
    stand_in: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    max_error: float = 0.0

    def add(self, reference: Array, other: Array) -> None:
        """Take in one pair of arrays of equal shape."""
        whole, stand_in = reference.ravel(), other.ravel()
        # Blocks are written over each other: new memory for each would take longer than the sums.
        kept = np.empty((3, min(whole.size, BLOCK)))
        for at in range(0, whole.size, BLOCK):
            blocks = kept[:, : whole.size - at]
            blocks[0], blocks[1] = whole[at : at + BLOCK], stand_in[at : at + BLOCK]
            self._add_block(*blocks)

    def take(self, other: Distance) -> None:
        """Take in the pairs that were added to another one."""
        self.signal += other.signal
        self.stand_in += other.stand_in
        self.noise += other.noise
        self.product += other.product
        self.max_error = max(self.max_error, other.max_error)

    def _add_block(self, a: Doubles, b: Doubles, difference: Doubles) -> None:
        with np.errstate(invalid="ignore"):
            np.subtract(a, b, out=difference)
        if np.isnan(np.max(difference, initial=0.0)):
            alike = np.isinf(a) & (
                a == b
            )  # masks of two networks in floats, which differ in nothing
            a[alike] = b[alike] = difference[alike] = 0.0
        self.signal += _product(a, a)
        self.stand_in += _product(b, b)
        self.noise += _product(difference, difference)
        self.product += _product(a, b)
        largest = np.max(np.abs(difference, out=difference), initial=0.0)
        self.max_error = max(self.max_error, float(largest))

    @property
    def noise_ratio(self) -> float:
        """Power of the noise over that of the reference; infinite for noise on nothing."""
        if self.noise == 0.0:
            return 0.0
        return self.noise / self.signal if self.signal else math.inf

    @property
    def sqnr_db(self) -> float:
        """Signal to quantisation noise ratio in dB; infinite without noise."""
        ratio = self.noise_ratio
        if ratio == 0.0:
            return math.inf
        return -10.0 * math.log10(ratio) if math.isfinite(ratio) else -math.inf

    @property
    def cosine(self) -> float:
        """Cosine of the angle between the two; 0 if just one of them is all zero."""
        lengths = math.sqrt(self.signal) * math.sqrt(self.stand_in)
        if lengths == 0.0:
            return 1.0 if self.signal == self.stand_in else 0.0
        return self.product / lengths


def _product(a: Doubles, b: Doubles) -> float:
    """The scalar product, added up in one order; that of `a @ b` depends on the number of cores."""
    return float(np.einsum("i,i->", a, b))
