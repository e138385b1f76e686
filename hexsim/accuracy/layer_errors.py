"""How far every tensor of a runtime is from float, over a stream of inputs.

An error is carried on by the layers behind it, so the worst tensor is rarely the culprit. The
noise a layer adds says more: its output's noise over signal less that of its noisiest input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexsim.accuracy.distance import Distance
from hexsim.accuracy.twin import Twin
from hexsim.graph.ir import FloatArray
from hexsim.quantization.encodings import Encoding
from hexsim.runtimes import Runtime

INPUT_TYPE = "data"
"""Type of the rows of network inputs, the name SNPE gives to its input layers."""


@dataclass(frozen=True)
class LayerError:
    """One tensor on the runtime that computes it, against float.

    `low` and `high` are the float range seen; `encoding` is None where the tensor is no code.
    `clipped` is the share of float values more than half a step outside the encoding.
    `added_noise` is noise over signal, less that of the noisiest input of the layer.
    `constant` lists the channels (last axis) whose float value never changed.
    """

    layer: str
    type: str
    tensor: str
    runtime: Runtime
    sqnr_db: float
    cosine: float
    max_error: float
    added_noise: float
    low: float
    high: float
    encoding: Encoding | None
    clipped: float
    constant: tuple[int, ...]


@dataclass
class TensorStream:
    """What is kept of one tensor: sums, and the float range of each channel."""

    encoding: Encoding | None
    distance: Distance = field(default_factory=Distance)
    count: int = 0
    outside: int = 0
    low: npt.NDArray[np.float32] | None = None
    high: npt.NDArray[np.float32] | None = None

    def add(self, reference: FloatArray, other: FloatArray) -> None:
        """Take in the tensor's value for one input, in float and on the runtime."""
        self.distance.add(reference, other)
        self.count += reference.size
        rows = reference.reshape(-1, reference.shape[-1] if reference.ndim else 1)
        low, high = rows.min(axis=0), rows.max(axis=0)
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)
        if self.encoding is not None:
            margin = self.encoding.delta / 2
            outside = (rows < self.encoding.min - margin) | (rows > self.encoding.max + margin)
            self.outside += int(np.count_nonzero(outside))

    @property
    def constant(self) -> tuple[int, ...]:
        """Channels of which more than one value was seen, and all were equal."""
        if self.low is None or self.count == self.low.size:
            return ()
        return tuple(int(c) for c in np.flatnonzero(self.low == self.high))


class ErrorStream:
    """Collects the errors of the float tensors of a twin, input by input.

    Left out are those without elements, and those whose size depends on values: what lies in one
    place of both need not be the same thing.
    """

    def __init__(self, twin: Twin) -> None:
        self._network, self._runtimes = twin.network, twin.runtimes
        known = twin.network.tensors
        self._streams = {
            name: TensorStream(twin.encodings.get(name))
            for name in twin.tensors
            if known[name].dtype == "float32" and known[name].elements and not known[name].varies
        }

    def add(self, floats: Mapping[str, FloatArray], others: Mapping[str, FloatArray]) -> None:
        """Take in all tensors of one input, in float and on the runtime."""
        for name, stream in self._streams.items():
            stream.add(floats[name], others[name])

    def errors(self) -> tuple[LayerError, ...]:
        """The inputs, then the layers in network order, a row per tensor."""
        named: list[tuple[str, str, str, tuple[str, ...]]]
        named = [(name, INPUT_TYPE, name, ()) for name in self._network.inputs]
        named += [
            (layer.name, layer.type, name, layer.inputs)
            for layer in self._network.layers
            for name in layer.outputs
        ]
        return tuple(self._error(*row) for row in named if row[2] in self._streams)

    def _error(self, layer: str, kind: str, tensor: str, inputs: tuple[str, ...]) -> LayerError:
        stream = self._streams[tensor]
        assert stream.low is not None, "no input was added"
        assert stream.high is not None
        ratios = [self._streams[n].distance.noise_ratio for n in inputs if n in self._streams]
        before, after = max(ratios, default=0.0), stream.distance.noise_ratio
        return LayerError(
            layer=layer,
            type=kind,
            tensor=tensor,
            runtime=self._runtimes.get(tensor, "cpu"),
            sqnr_db=stream.distance.sqnr_db,
            cosine=stream.distance.cosine,
            max_error=stream.distance.max_error,
            added_noise=0.0 if _same(before, after) else after - before,
            low=float(stream.low.min()),
            high=float(stream.high.max()),
            encoding=stream.encoding,
            clipped=stream.outside / stream.count if stream.count else 0.0,
            constant=stream.constant,
        )


def _same(one: float, other: float) -> bool:
    """True if ratios differ by no more than the rounding of sums, or both are infinite."""
    return math.isclose(one, other, rel_tol=1e-9)


def most_added(errors: tuple[LayerError, ...]) -> list[LayerError]:
    """The layers that add most noise first."""
    return sorted(errors, key=lambda row: -row.added_noise)
