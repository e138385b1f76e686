"""The error of each output of a network against float, in sums; the worst one decides.

Outputs are not added up: a large one would hide a small one that is nothing but noise.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hexsim.results.accuracy import NO_SIGNAL_DB, OutputAccuracy

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

BLOCK = 1 << 16
"""Elements that are added at once: their float64 values fit into a processor cache."""


@dataclass(slots=True)
class Distance:
    """Sums in float64 over all pairs of a reference array and its stand-in."""

    signal: float = 0.0
    stand_in: float = 0.0
    noise: float = 0.0
    product: float = 0.0
    max_error: float = 0.0

    @classmethod
    def between(cls, reference: Array, other: Array) -> Distance:
        """Return the sums of one pair of arrays of equal shape."""
        distance = cls()
        distance.add(reference, other)
        return distance

    def add(self, reference: Array, other: Array) -> None:
        """Add one pair of arrays of equal shape."""
        signal, stand_in = reference.ravel(), other.ravel()
        # All blocks use the same memory: allocating each would take longer than the sums.
        buffers = np.empty((3, min(signal.size, BLOCK)))
        for at in range(0, signal.size, BLOCK):
            blocks = buffers[:, : signal.size - at]
            blocks[0], blocks[1] = signal[at : at + BLOCK], stand_in[at : at + BLOCK]
            self._add_block(*blocks)

    def take(self, other: Distance) -> None:
        """Add the pairs of another distance."""
        self.signal += other.signal
        self.stand_in += other.stand_in
        self.noise += other.noise
        self.product += other.product
        self.max_error = max(self.max_error, other.max_error)

    def _add_block(self, a: Doubles, b: Doubles, difference: Doubles) -> None:
        with np.errstate(invalid="ignore"):
            np.subtract(a, b, out=difference)
        if np.isnan(np.max(difference, initial=0.0)):
            alike = np.isinf(a) & (a == b)  # equal infinities, as in attention masks
            a[alike] = b[alike] = difference[alike] = 0.0
        self.signal += _product(a, a)
        self.stand_in += _product(b, b)
        self.noise += _product(difference, difference)
        self.product += _product(a, b)
        largest = np.max(np.abs(difference, out=difference), initial=0.0)
        self.max_error = max(self.max_error, float(largest))

    @property
    def noise_ratio(self) -> float:
        """Power of the noise over that of the reference; infinite for noise without signal."""
        if self.noise == 0.0:
            return 0.0
        return self.noise / self.signal if self.signal else math.inf

    @property
    def sqnr_db(self) -> float:
        """Signal to quantisation noise ratio in dB; infinite without noise."""
        ratio = self.noise_ratio
        if ratio == 0.0:
            return math.inf
        return 0.0 - 10.0 * math.log10(ratio) if math.isfinite(ratio) else -math.inf

    @property
    def cosine(self) -> float:
        """Cosine of the angle between the two; 0 if only one of them is all zero."""
        lengths = math.sqrt(self.signal) * math.sqrt(self.stand_in)
        if lengths == 0.0:
            return 1.0 if self.signal == self.stand_in else 0.0
        return self.product / lengths


def _product(a: Doubles, b: Doubles) -> float:
    """Return the scalar product, in a fixed order; `a @ b` depends on the number of cores."""
    return float(np.einsum("i,i->", a, b))


PROBABILITY_STEP = 1 / 255
"""A step of a probability in 8 bits over 0 .. 1, the encoding of Hexagon NN's sigmoid and softmax.
An error below it is none that matters, though it may be large beside scores at rest."""


class OutputErrors:
    """The distances of a network's outputs from float, by the names of their tensors.

    `probabilities` are the tensors whose values are probabilities.
    """

    def __init__(self, probabilities: Collection[str] = ()) -> None:
        self._probabilities = probabilities
        self._distances: dict[str, Distance] = {}

    def add(self, reference: Mapping[str, Array], values: Mapping[str, Array]) -> None:
        """Add the tensors of `reference`, which `values` has too, for one input."""
        self.take({name: Distance.between(a, values[name]) for name, a in reference.items()})

    def take(self, distances: Mapping[str, Distance]) -> None:
        """Add distances that were measured elsewhere."""
        for name, distance in distances.items():
            self._distances.setdefault(name, Distance()).take(distance)

    @property
    def each(self) -> tuple[OutputAccuracy, ...]:
        """The outputs, in the order in which they were first added."""
        return tuple(
            OutputAccuracy(
                tensor=name,
                sqnr_db=max(distance.sqnr_db, NO_SIGNAL_DB) if distance.noise else None,
                negligible=name in self._probabilities and distance.max_error < PROBABILITY_STEP,
            )
            for name, distance in self._distances.items()
        )
