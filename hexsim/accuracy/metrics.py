"""Distances between a reference array and the array that stands in for it.

All take arrays of equal shape, compute in float64 and return one number.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]


def sqnr_db(reference: Array, other: Array) -> float:
    """Signal to quantisation noise ratio in dB: 10 log10(sum ref^2 / sum (ref - other)^2).

    Infinite for equal arrays; minus infinite for noise on an all-zero reference.
    """
    ref = reference.astype(np.float64)
    noise = float(np.sum((ref - other.astype(np.float64)) ** 2))
    signal = float(np.sum(ref**2))
    if noise == 0.0:
        return math.inf
    return 10.0 * math.log10(signal / noise) if signal else -math.inf


def cosine(reference: Array, other: Array) -> float:
    """Cosine of the angle between the flattened arrays; 0 if just one of them is all zero."""
    a, b = reference.astype(np.float64).ravel(), other.astype(np.float64).ravel()
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if lengths == 0.0:
        return 1.0 if not (a.any() or b.any()) else 0.0
    return float(a @ b) / lengths


def max_error(reference: Array, other: Array) -> float:
    """Largest absolute difference."""
    difference = reference.astype(np.float64) - other.astype(np.float64)
    return float(np.max(np.abs(difference), initial=0.0))


def margin(scores: Array, label: int) -> float:
    """Score of `label` minus the best other score; negative where another class wins."""
    flat = scores.astype(np.float64).ravel()
    return float(flat[label] - np.max(np.delete(flat, label)))
