"""Agreement of a runtime with the float network over a set of inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from hexsim.accuracy.distance import BLOCK, Array, Distance
from hexsim.accuracy.metrics import margin, winner
from hexsim.graph.ir import FloatArray

Outputs = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Agreement:
    """Outputs of one runtime against float, over `inputs` inputs.

    `sqnr_db` is over all outputs together. The other figures read the first output as class scores:
    `top1` counts inputs with the same winner, `margin_ratio` is the remaining share of the float
    margins between winner and runner-up, summed over the inputs (below 0: the winner changed).
    They mean something only if `classes`: the network is a classifier.
    """

    inputs: int
    sqnr_db: float
    top1: int
    margin_ratio: float
    classes: bool = True


def agreement(
    reference: Iterable[Outputs], runtime: Iterable[Outputs], *, classes: bool = True
) -> Agreement:
    """Compare two runs over the same inputs, output arrays by tensor name for each.

    Memory is bounded by the outputs of one input, if both are iterators.
    """
    inputs, top1, runtime_margins, float_margins = 0, 0, 0.0, 0.0
    sums = _Joined()
    for floats, outputs in zip(reference, runtime, strict=True):
        inputs += 1
        for name, array in floats.items():
            sums.add(array, outputs[name])
        first = next(iter(floats))
        best = winner(floats[first])
        top1 += best == winner(outputs[first])
        if floats[first].size > 1:
            float_margins += margin(floats[first], best)
            runtime_margins += margin(outputs[first], best)
    ratio = runtime_margins / float_margins if float_margins else math.nan
    return Agreement(inputs, sums.distance().sqnr_db, top1, ratio, classes)


@dataclass
class _Joined:
    """The distance of many pairs of arrays; small ones are joined before they are added."""

    _sums: Distance = field(default_factory=Distance)
    _waiting: list[tuple[Array, Array]] = field(default_factory=list)
    _elements: int = 0

    def add(self, reference: Array, values: Array) -> None:
        self._waiting.append((reference.ravel(), values.ravel()))
        self._elements += reference.size
        if self._elements >= BLOCK:
            self._take()

    def distance(self) -> Distance:
        if self._waiting:
            self._take()
        return self._sums

    def _take(self) -> None:
        pairs, self._waiting, self._elements = self._waiting, [], 0
        if len(pairs) == 1:
            self._sums.add(*pairs[0])
        else:
            self._sums.add(*(np.concatenate(side) for side in zip(*pairs, strict=True)))
