"""Distances between a reference array and the array that stands in for it.

All take arrays of equal shape, compute in float64 and return one number.
"""

import numpy as np

from hexsim.accuracy.distance import Array, Distance


def distance(reference: Array, other: Array) -> Distance:
    """Return the sums of one pair of arrays, from which all distances follow."""
    result = Distance()
    result.add(reference, other)
    return result


def sqnr_db(reference: Array, other: Array) -> float:
    """Return the signal to quantisation noise ratio, 10 log10(sum ref^2 / sum (ref - other)^2) dB.

    Infinite for equal arrays; minus infinite for noise on an all-zero reference.
    """
    return distance(reference, other).sqnr_db


def cosine(reference: Array, other: Array) -> float:
    """Return the cosine between the flattened arrays; 0 if only one of them is all zero."""
    return distance(reference, other).cosine


def max_error(reference: Array, other: Array) -> float:
    """Return the largest absolute difference."""
    return distance(reference, other).max_error


def winner(scores: Array) -> int:
    """Return the class of the highest score, the first of equal ones; -1 if there is no class."""
    return int(np.argmax(scores)) if scores.size else -1


def margin(scores: Array, label: int) -> float:
    """Return the score of `label` minus the best other one; negative where another class wins."""
    flat = scores.ravel()
    others = [part.max() for part in (flat[:label], flat[label + 1 :]) if part.size]
    return float(flat[label]) - float(np.max(others))
