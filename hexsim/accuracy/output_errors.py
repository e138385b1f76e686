"""The error of each output of a network against float; the worst one decides.

Outputs are not added up: a large one would hide a small one that is nothing but noise.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hexsim.accuracy.distance import BLOCK, Array, Distance
from hexsim.texts.figures import decibels, figure

SHOWN = 8
"""The most outputs that `each_output` names; JSON has all."""

NO_SIGNAL_DB = -999.0
"""SQNR of noise without any signal, which has no logarithm."""


PROBABILITY_STEP = 1 / 255
"""A step of a probability in 8 bits over 0 .. 1, the encoding of Hexagon NN's sigmoid and softmax.
An error below it is none that matters, though it may be large beside scores at rest."""


@dataclass(frozen=True)
class OutputError:
    """The SQNR in dB of the tensor of one output over all inputs; None without any noise.

    `negligible` is a probability with no error of a `PROBABILITY_STEP` or more.
    """

    tensor: str
    sqnr_db: float | None = None
    negligible: bool = False


class OutputFigure(Protocol):
    """An output and its SQNR; also its part of a document."""

    @property
    def negligible(self) -> bool:
        """Whether it is a probability without an error that matters."""

    @property
    def tensor(self) -> str:
        """The tensor that is compared."""

    @property
    def sqnr_db(self) -> float | None:
        """Its SQNR in dB; None without any noise."""


class OutputErrors:
    """The distances of a network's outputs from float, by the names of their tensors.

    Small arrays of several inputs are joined before they are added. `probabilities` are the tensors
    whose values are probabilities.
    """

    def __init__(self, probabilities: Collection[str] = ()) -> None:
        self._probabilities = probabilities
        self._distances: dict[str, Distance] = {}
        self._waiting: dict[str, list[tuple[Array, Array]]] = {}
        self._elements = 0

    def add(self, reference: Mapping[str, Array], values: Mapping[str, Array]) -> None:
        """Add the tensors of `reference`, which `values` has too, for one input."""
        for name, array in reference.items():
            self._waiting.setdefault(name, []).append((array.ravel(), values[name].ravel()))
            self._elements += array.size
        if self._elements >= BLOCK:
            self._join()

    def take(self, distances: Mapping[str, Distance]) -> None:
        """Add distances that were measured elsewhere."""
        for name, distance in distances.items():
            self._of(name).take(distance)

    @property
    def each(self) -> tuple[OutputError, ...]:
        """The outputs, in the order in which they were first added."""
        self._join()
        return tuple(
            OutputError(
                name,
                max(distance.sqnr_db, NO_SIGNAL_DB) if distance.noise else None,
                name in self._probabilities and distance.max_error < PROBABILITY_STEP,
            )
            for name, distance in self._distances.items()
        )

    def _of(self, name: str) -> Distance:
        return self._distances.setdefault(name, Distance())

    def _join(self) -> None:
        for name, pairs in self._waiting.items():
            self._of(name).add(*(np.concatenate(side) for side in zip(*pairs, strict=True)))
        self._waiting, self._elements = {}, 0


def worst_db(outputs: Iterable[OutputFigure]) -> float:
    """Return the least SQNR of the outputs in dB; NaN without any."""
    return min(map(_db, outputs), default=math.nan)


def judged_db(sqnr_db: float | None, outputs: Sequence[OutputFigure]) -> float:
    """Return the SQNR in dB that decides whether outputs are an answer.

    It is `sqnr_db`, that of the worst, infinite without noise; negligible errors do not count.
    """
    if any(output.negligible for output in outputs):
        return min((_db(o) for o in outputs if not o.negligible), default=math.inf)
    return math.inf if sqnr_db is None or math.isnan(sqnr_db) else sqnr_db


def sqnr_text(outputs: Sequence[OutputFigure]) -> str:
    """Return the SQNR of the worst output in words."""
    return f"{figure(worst_db(outputs))} dB" if outputs else "none of them is compared"


def each_output(outputs: Sequence[OutputFigure]) -> str:
    """Return the SQNR of each output in words, the worst first.

    There are none for a single output, and without any noise.
    """
    if len(outputs) < 2 or worst_db(outputs) == math.inf:
        return ""
    ordered = sorted(outputs, key=_db)
    words = [
        f"'{output.tensor}' {decibels(output.sqnr_db)}{' dB' if output.sqnr_db is not None else ''}"
        for output in ordered[:SHOWN]
    ]
    more = [f"and {len(ordered) - SHOWN} more"] if len(ordered) > SHOWN else []
    return f"each output, the worst first: {', '.join([*words, *more])}"


def _db(output: OutputFigure) -> float:
    """Return the SQNR as a number, infinite without any noise."""
    return math.inf if output.sqnr_db is None else output.sqnr_db
