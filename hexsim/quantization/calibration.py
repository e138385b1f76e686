"""Calibration: the range that every activation takes over a set of inputs.

The float network runs in onnxruntime with every tensor as an output, one input set at a time, so
memory stays bounded by one set of activations however many inputs are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray, Network
from hexsim.host.float_execution import FloatEngine


@dataclass(frozen=True)
class Range:
    """Smallest and largest value seen, in real units."""

    low: float
    high: float

    def joined(self, other: Range) -> Range:
        """The range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def observe_ranges(
    network: Network,
    inputs: Iterable[Mapping[str, FloatArray]],
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, Range]:
    """Return the range of every float activation over `inputs` (arrays in stored order).

    `progress` is told how many inputs are done. Raises HexsimError if there is no input, or if
    an input or activation holds NaN or infinity.
    """
    names = tuple(name for name, t in network.tensors.items() if t.dtype == "float32")
    engine = FloatEngine(network, outputs=[n for n in names if n not in network.inputs])
    ranges: dict[str, Range] = {}
    count = 0
    for count, feed in enumerate(inputs, start=1):
        for name, array in {**feed, **engine.run(feed)}.items():
            if name not in names:
                continue
            seen = Range(float(np.min(array)), float(np.max(array)))
            if not np.isfinite((seen.low, seen.high)).all():
                raise HexsimError(
                    f"calibration input {count} gives tensor '{name}' NaN or infinite values; "
                    "check that input and the model's weights"
                )
            ranges[name] = ranges[name].joined(seen) if name in ranges else seen
        progress(count)
    if count == 0:
        raise HexsimError("calibration needs at least one input; the list is empty")
    return ranges
