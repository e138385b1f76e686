"""A lowered call as work for one HVX program, and what the layouts of all of them share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.oracle.int8.layout import lanes, pixels, up, wrapped
from tests.oracle.int8.record import Record


@dataclass(frozen=True)
class Job:
    """A call's records for one program, and how their results make its output codes."""

    program: str
    records: list[Record]
    codes: Callable[[Sequence[bytes]], np.ndarray]


def images(call):
    return lambda results: np.stack([pixels(data, *call.output.shape[1:]) for data in results])


def span(window, rows, columns):
    """Rows and columns of padded input under that many outputs, columns whole vectors."""
    reach = [(n - 1) * s for n, s in zip((rows, columns), window.strides, strict=True)]
    return reach[0] + window.reach[0], up(reach[1] + window.reach[1], 4)


def constants(stage, folded):
    """Preload with `folded` added, multipliers and shifts, by lane."""
    preload = wrapped(stage.preload.astype(np.int64) + folded)
    return lanes(preload, 0), lanes(stage.multiplier, 1), lanes(stage.shift, 0)
