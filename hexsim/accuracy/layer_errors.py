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
from hexsim.accuracy.paired_run import PairedRun
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
class FloatTensor:
    """What inputs say of one tensor in float; `low` and `high` are those of each channel."""

    count: int = 0
    outside: int = 0
    low: npt.NDArray[np.float32] | None = None
    high: npt.NDArray[np.float32] | None = None

    @classmethod
    def of(cls, values: FloatArray, encoding: Encoding | None) -> FloatTensor:
        """What one input says."""
        rows = values.reshape(-1, values.shape[-1] if values.ndim else 1)
        outside = 0
        if encoding is not None:
            margin = encoding.delta / 2
            far = (rows < encoding.min - margin) | (rows > encoding.max + margin)
            outside = int(np.count_nonzero(far))
        return cls(values.size, outside, rows.min(axis=0), rows.max(axis=0))

    def take(self, other: FloatTensor) -> None:
        """Take in what further inputs say."""
        assert other.low is not None, "no input was added"
        assert other.high is not None
        self.count += other.count
        self.outside += other.outside
        self.low = other.low if self.low is None else np.minimum(self.low, other.low)
        self.high = other.high if self.high is None else np.maximum(self.high, other.high)

    @property
    def constant(self) -> tuple[int, ...]:
        """Channels of which more than one value was seen, and all were equal."""
        if self.low is None or self.count == self.low.size:
            return ()
        return tuple(int(c) for c in np.flatnonzero(self.low == self.high))


@dataclass
class TensorRun:
    """One tensor for a run of inputs: the distance of each, and what all say together.

    Sums of floats depend on their order, so those of a run are added up by who has all runs.
    """

    distances: list[Distance] = field(default_factory=list)
    seen: FloatTensor = field(default_factory=FloatTensor)

    def add(self, reference: FloatArray, other: FloatArray, encoding: Encoding | None) -> None:
        """Take in the tensor's value for one input, in float and on the runtime."""
        distance = Distance()
        distance.add(reference, other)
        self.distances.append(distance)
        self.seen.take(FloatTensor.of(reference, encoding))

    def take(self, other: TensorRun) -> None:
        """Take in the run of the inputs behind these."""
        self.distances += other.distances
        self.seen.take(other.seen)


@dataclass
class TensorStream:
    """What is kept of one tensor over all inputs."""

    encoding: Encoding | None
    distance: Distance = field(default_factory=Distance)
    seen: FloatTensor = field(default_factory=FloatTensor)

    def take(self, run: TensorRun) -> None:
        """Take in the next run of inputs."""
        for distance in run.distances:
            self.distance.take(distance)
        self.seen.take(run.seen)


class ErrorStream:
    """Collects the errors of the tensors of a twin that are measured, run of inputs by run."""

    def __init__(self, paired: PairedRun) -> None:
        self._network, self._runtimes = paired.network, paired.runtimes
        self._streams = {n: TensorStream(paired.encodings.get(n)) for n in paired.measured}

    def take(self, runs: Mapping[str, TensorRun]) -> None:
        """Take in the next run of inputs; how inputs are cut into runs changes nothing."""
        for name, run in runs.items():
            self._streams[name].take(run)

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
        seen = stream.seen
        assert seen.low is not None, "no input was added"
        assert seen.high is not None
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
            low=float(seen.low.min()),
            high=float(seen.high.max()),
            encoding=stream.encoding,
            clipped=seen.outside / seen.count if seen.count else 0.0,
            constant=seen.constant,
        )


def _same(one: float, other: float) -> bool:
    """True if ratios differ by no more than the rounding of sums, or both are infinite."""
    return math.isclose(one, other, rel_tol=1e-9)


def most_added(errors: tuple[LayerError, ...]) -> list[LayerError]:
    """The layers that add most noise first."""
    return sorted(errors, key=lambda row: -row.added_noise)
