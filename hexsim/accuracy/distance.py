"""The distance between two streams of arrays, in sums that do not grow with the stream."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]

BLOCK = 1 << 20
"""Elements that are taken at once: doubles of a large tensor would be a multiple of it."""


@dataclass
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
        for at in range(0, whole.size, BLOCK):
            self._add_block(whole[at : at + BLOCK], stand_in[at : at + BLOCK])

    def _add_block(self, reference: Array, other: Array) -> None:
        a, b = reference.astype(np.float64), other.astype(np.float64)
        difference = a - b
        self.signal += float(a @ a)
        self.stand_in += float(b @ b)
        self.noise += float(difference @ difference)
        self.product += float(a @ b)
        self.max_error = max(self.max_error, float(np.max(np.abs(difference), initial=0.0)))

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
