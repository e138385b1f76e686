"""Agreement of a runtime with the float network over a set of inputs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hexsim.accuracy.classification import Hits, margin, winner
from hexsim.accuracy.distance import BLOCK, Array, Distance
from hexsim.accuracy.items import scores_of_items, unpadded_each
from hexsim.graph.ir import FloatArray

Outputs = Mapping[str, FloatArray]


@dataclass(frozen=True)
class Agreement:
    """Outputs of one runtime against float, over `inputs` inputs.

    `sqnr_db` is over all compared tensors together; NaN if there are none. The other figures read
    the first output as class scores: `top1` counts inputs with the same winner, `margin_ratio` is
    the remaining share of the float margins between winner and runner-up, summed over the inputs
    (below 0: the winner changed). They mean something only if `classes`: the network is a
    classifier. `right` and `float_right` count the inputs whose right class wins, on the runtime
    and in float; None if nobody said which that is.
    """

    inputs: int
    sqnr_db: float
    top1: int
    margin_ratio: float
    classes: bool = True
    right: int | None = None
    float_right: int | None = None


def agreement(
    reference: Iterable[Outputs],
    runtime: Iterable[Outputs],
    *,
    classes: bool = True,
    names: Sequence[str] | None = None,
    batch: int = 1,
    items: int | None = None,
    labels: Sequence[Sequence[int]] | None = None,
) -> Agreement:
    """Compare two runs over the same inputs, output arrays by tensor name for each.

    `names` are the tensors of the SQNR, by default all. An input is an item; a run has `batch` of
    them, and all runs together `items`, by default all that they hold. `labels` has the right
    classes of each item.
    Memory is bounded by the outputs of one input, if both are iterators.
    """
    hits, runtime_margins, float_margins = Hits(), 0.0, 0.0
    sums = _Joined()
    pairs = zip(*(unpadded_each(r, batch, items) for r in (reference, runtime)), strict=True)
    for floats, outputs in pairs:
        for name in floats if names is None else names:
            sums.add(floats[name], outputs[name])
        first = next(iter(floats))
        scores = (scores_of_items(values[first], batch) for values in (floats, outputs))
        for expected, actual in zip(*scores, strict=True):
            hits.add(expected, actual, None if labels is None else labels[hits.inputs])
            best = winner(expected)
            if expected.size > 1:
                float_margins += margin(expected, best)
                runtime_margins += margin(actual, best)
    ratio = runtime_margins / float_margins if float_margins else math.nan
    sqnr_db = math.nan if names is not None and not names else sums.distance().sqnr_db
    counts = hits.inputs if items is None else items, sqnr_db, hits.same_top1, ratio, classes
    right = () if labels is None else (hits.runtime_top1, hits.float_top1)
    return Agreement(*counts, *right)


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
