"""The digits, which of them are held out, and where the trained networks are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tests.digits.architecture import Kind

HELD_OUT = 600
"""Digits that no network was trained on or calibrated with; 6 of them are one point."""


@dataclass(frozen=True, eq=False)
class Digits:
    """Images (n, 1, 8, 8) from 0 to 1, and their classes."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


@cache
def digits() -> Digits:
    """The 1797 digits in one fixed shuffled order, the last `HELD_OUT` of them for tests."""
    from sklearn.datasets import load_digits  # takes seconds, in every worker that collects

    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.images))
    images = (data.images[order, None] / 16).astype(np.float32)
    labels = data.target[order]
    return Digits(images[:-HELD_OUT], labels[:-HELD_OUT], images[-HELD_OUT:], labels[-HELD_OUT:])


def path(kind: Kind, seed: int) -> Path:
    """File of the network of `kind` that was trained from `seed`."""
    return Path(__file__).parent / f"{kind}_{seed}.npz"
