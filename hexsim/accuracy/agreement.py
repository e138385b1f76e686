"""Agreement of a runtime with the float network over a set of inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hexsim.accuracy.metrics import margin, sqnr_db, winner
from hexsim.graph.ir import FloatArray


@dataclass(frozen=True)
class Agreement:
    """Outputs of one runtime against float, over `inputs` inputs.

    `sqnr_db` is over all outputs together. The rest is about the first output, read as class
    scores: `top1` counts inputs with the same winner, `margin_ratio` is how much is left of the
    float margins between winner and runner-up, summed over the inputs (below 0: overturned).
    `classes` tells that it is a classifier's, so that these two mean something.
    """

    inputs: int
    sqnr_db: float
    top1: int
    margin_ratio: float
    classes: bool = True


def agreement(
    reference: Sequence[Mapping[str, FloatArray]],
    other: Sequence[Mapping[str, FloatArray]],
    *,
    classes: bool = True,
) -> Agreement:
    """Compare two runs over the same inputs, each a list of output arrays by tensor name."""
    names = list(reference[0])
    stacked = [
        np.concatenate([np.ravel(run[name]) for run in runs for name in names])
        for runs in (reference, other)
    ]
    top1, kept, whole = 0, 0.0, 0.0
    for float_run, other_run in zip(reference, other, strict=True):
        scores = float_run[names[0]]
        best = winner(scores)
        top1 += best == winner(other_run[names[0]])
        if scores.size > 1:
            whole += margin(scores, best)
            kept += margin(other_run[names[0]], best)
    ratio = kept / whole if whole else math.nan
    return Agreement(len(reference), sqnr_db(stacked[0], stacked[1]), top1, ratio, classes)
