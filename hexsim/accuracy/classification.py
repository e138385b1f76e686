"""The items of a batch: their scores, and top-1 and top-5 against labels and against float."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from hexsim.accuracy.distance import Array
from hexsim.graph.ir import FloatArray


def unpadded(values: Mapping[str, FloatArray], batch: int, count: int) -> Mapping[str, FloatArray]:
    """Return the first `count` items of every array that has `batch` of them."""
    if count == batch:
        return values
    return {n: a[:count] if a.ndim and a.shape[0] == batch else a for n, a in values.items()}


def unpadded_each(
    runs: Iterable[Mapping[str, FloatArray]], batch: int, items: int | None
) -> Iterator[Mapping[str, FloatArray]]:
    """Yield runs in order without the padding of the last one; without `items` all are full."""
    for index, values in enumerate(runs):
        count = batch if items is None else min(batch, items - index * batch)
        yield unpadded(values, batch, count)


def scores_of_items(scores: FloatArray, batch: int) -> Iterator[FloatArray]:
    """Yield the scores of each item; without batches all scores belong to one item."""
    if batch == 1:
        yield scores
    else:
        yield from scores


TOP = 5
"""Number of best classes for top-5."""


@dataclass
class Hits:
    """Counts over the inputs; counts against labels stay 0 without labels."""

    inputs: int = 0
    same_top1: int = 0
    float_top1: int = 0
    float_top5: int = 0
    runtime_top1: int = 0
    runtime_top5: int = 0

    def add(self, floats: FloatArray, outputs: FloatArray, right: Sequence[int] | None) -> None:
        """Add the scores of one input, in float and on the runtime.

        `right` has its right classes, any of which counts.
        """
        self.inputs += 1
        self.same_top1 += winner(floats) == winner(outputs)
        if right is not None:
            place_float, place_runtime = place(floats, right), place(outputs, right)
            self.float_top1 += place_float < 1
            self.float_top5 += place_float < TOP
            self.runtime_top1 += place_runtime < 1
            self.runtime_top5 += place_runtime < TOP

    def take(self, other: Hits) -> None:
        """Add the counts of other inputs."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def place(scores: FloatArray, right: Sequence[int]) -> int:
    """Return the rank of the best of `right`, from 0; of equal scores the lower index wins."""
    flat = scores.ravel()
    first = min(right, key=lambda label: (-flat[label], label))
    before = np.count_nonzero(flat > flat[first]) + np.count_nonzero(flat[:first] == flat[first])
    return int(before)


def winner(scores: Array) -> int:
    """Return the class of the highest score, the first of equal ones; -1 if there is no class."""
    return int(np.argmax(scores)) if scores.size else -1


def margin(scores: Array, label: int) -> float:
    """Return the score of `label` minus the best other one; negative where another class wins."""
    flat = scores.ravel()
    others = [part.max() for part in (flat[:label], flat[label + 1 :]) if part.size]
    return float(flat[label]) - float(np.max(others))
