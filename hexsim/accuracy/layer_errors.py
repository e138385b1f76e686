"""The distance of every tensor of a runtime from float, over a stream of inputs.

Later layers pass an error on, so the worst tensor is rarely the cause. The noise that a layer adds
says more: the noise over signal of its output less that of its noisiest input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hexsim.accuracy.output_errors import Distance
from hexsim.deployment import Deployment
from hexsim.execution.executors import SubnetExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.plan import Plan
from hexsim.quantization.encodings import Encoding, input_codes
from hexsim.results.validation import TensorError
from hexsim.runtimes import FIXED_POINT, Runtime
from hexsim.texts.fields import finite

Values = Mapping[str, FloatArray]
Pair = tuple[Values, Values]
"""In float and on the runtime."""
Run = Callable[[Values, Values | None], Pair]


class _Executors(SubnetExecutor, Protocol):
    def contexts(self, count: int) -> Sequence[SubnetExecutor]:
        """Return `count` executors that do the same in parallel."""


class MadeWhereUsed:
    """An object that is pickled without its cached properties, which are created again."""

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes but the cached properties."""
        cls = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(cls, name, None), cached_property)
        }


class PairedRun(MadeWhereUsed):
    """Runs both on the same input; one set of activations of each is in memory at a time.

    `tensors` are the names observed: the inputs, every float32 tensor and the outputs. `measured`
    are the floats among them, except tensors without elements and tensors whose size depends on
    values: equal positions in both need not correspond. `runtimes` says which runtime computes each
    tensor, or reads it if it is an input; `encodings` has the encodings of quantised ones.
    `threads` share the work of a layer, 0 for one per core. Both engines are created at the first
    input. Without `layers` nothing is measured, and the values in float are given for each input.
    """

    def __init__(self, deployment: Deployment, threads: int = 0, *, layers: bool = True) -> None:
        network = deployment.network
        computed = observable(network)
        self.tensors = (*network.inputs, *computed)
        tensors = network.tensors
        self.measured = tuple(
            name
            for name in self.tensors
            if layers
            and tensors[name].dtype == "float32"
            and tensors[name].elements
            and not tensors[name].varies
        )
        self.network = network
        self.threads = threads
        self._layers = layers
        self._written = computed
        self._observed = deployment.observing(computed)
        self.runtimes = _runtimes(self._observed.plan)
        self.encodings = {
            name: deployment.loaded.activation(name)
            for name, runtime in self.runtimes.items()
            if runtime in FIXED_POINT
        }
        for subnet in self._observed.plan.subnets:
            if subnet.runtime == "cpu" != subnet.engine:  # its values alone are those of the CPU
                names = (name for layer in subnet.layers for name in layer.outputs)
                self.runtimes |= dict.fromkeys(names, deployment.runtime)

    @cached_property
    def _float(self) -> FloatEngine:
        return FloatEngine(self.network, outputs=self._written, threads=self.threads)

    @cached_property
    def _runtime(self) -> _Executors:
        return self._observed.executor(self.threads)

    def run(self, feed: Values, floats: Values | None = None) -> Pair:
        """Return the values of `tensors` in float and on the runtime, in stored order.

        Quantised tensors of the runtime are dequantised; so are the network's inputs that a
        fixed-point subnet reads. `floats` are the values in float, if they are known.
        """
        return self._pair(feed, floats, self._runtime)

    def contexts(self, count: int) -> list[Run]:
        """Return `count` functions like `run` for parallel use; they share the float network."""
        if self._layers:
            _ = self._float  # created before several threads use it
        return [partial(self._pair, runtime=context) for context in self._runtime.contexts(count)]

    def _pair(self, feed: Values, floats: Values | None, runtime: SubnetExecutor) -> Pair:
        inputs = dict(feed)
        coded = {
            name: self.encodings[name].dequantize(input_codes(array, self.encodings[name]))
            for name, array in inputs.items()
            if name in self.encodings
        }
        floats = self._float.run(feed) if floats is None else floats
        return ({**inputs, **floats}, {**inputs, **coded, **runtime.run(feed)})


def observable(network: Network) -> list[str]:
    """Return the tensors that layers write and that may be compared, in network order."""
    return [
        name
        for layer in network.layers
        for name in layer.outputs
        if network.tensors[name].dtype == "float32" or name in network.outputs
    ]


def _runtimes(plan: Plan) -> dict[str, Runtime]:
    readers = {name: subnet.runtime for subnet in plan.subnets for name in subnet.inputs}
    writers = {
        name: subnet.runtime
        for subnet in plan.subnets
        for layer in subnet.layers
        for name in layer.outputs
    }
    return {**readers, **writers}


INPUT_TYPE = "data"
"""Type of the rows of network inputs, the name SNPE gives to its input layers."""


@dataclass
class FloatStatistics:
    """Statistics of one tensor in float over inputs; `low` and `high` are per channel."""

    count: int = 0
    outside: int = 0
    low: npt.NDArray[np.float32] | None = None
    high: npt.NDArray[np.float32] | None = None

    @classmethod
    def of(cls, values: FloatArray, encoding: Encoding | None) -> FloatStatistics:
        """Return the statistics of one input."""
        rows = values.reshape(-1, values.shape[-1] if values.ndim else 1)
        outside = 0
        if encoding is not None:
            margin = encoding.delta / 2
            far = (rows < encoding.min - margin) | (rows > encoding.max + margin)
            outside = int(np.count_nonzero(far))
        return cls(values.size, outside, rows.min(axis=0), rows.max(axis=0))

    def take(self, other: FloatStatistics) -> None:
        """Add the statistics of further inputs."""
        assert other.low is not None, "no input was added"
        assert other.high is not None
        self.count += other.count
        self.outside += other.outside
        self.low = other.low if self.low is None else np.minimum(self.low, other.low)
        self.high = other.high if self.high is None else np.maximum(self.high, other.high)

    @property
    def constant(self) -> tuple[int, ...]:
        """Channels with more than one value, all of which are equal."""
        if self.low is None or self.count == self.low.size:
            return ()
        return tuple(int(c) for c in np.flatnonzero(self.low == self.high))


@dataclass
class TensorRun:
    """One tensor for a run of inputs: the distance for each, and the statistics of all.

    Sums of floats depend on their order, so `TensorStream` adds up the distances of all runs.
    """

    distances: list[Distance] = field(default_factory=list)
    seen: FloatStatistics = field(default_factory=FloatStatistics)

    def add(self, reference: FloatArray, other: FloatArray, encoding: Encoding | None) -> None:
        """Add the tensor's values for one input, in float and on the runtime."""
        self.distances.append(Distance.between(reference, other))
        self.seen.take(FloatStatistics.of(reference, encoding))

    def take(self, other: TensorRun) -> None:
        """Add the run of the following inputs."""
        self.distances += other.distances
        self.seen.take(other.seen)


@dataclass
class TensorStream:
    """The sums of one tensor over all inputs."""

    encoding: Encoding | None
    distance: Distance = field(default_factory=Distance)
    seen: FloatStatistics = field(default_factory=FloatStatistics)

    def take(self, run: TensorRun) -> None:
        """Add the next run of inputs."""
        for distance in run.distances:
            self.distance.take(distance)
        self.seen.take(run.seen)


class ErrorStream:
    """Adds up the errors of the measured tensors of a paired run."""

    def __init__(self, paired: PairedRun) -> None:
        self._network, self._runtimes = paired.network, paired.runtimes
        self._streams = {n: TensorStream(paired.encodings.get(n)) for n in paired.measured}

    def take(self, runs: Mapping[str, TensorRun]) -> None:
        """Add the next run of inputs; the division of inputs into runs does not matter."""
        for name, run in runs.items():
            self._streams[name].take(run)

    def errors(self) -> tuple[TensorError, ...]:
        """Return a row per tensor: the inputs, then the layers in network order."""
        named: list[tuple[str, str, str, tuple[str, ...]]]
        named = [(name, INPUT_TYPE, name, ()) for name in self._network.inputs]
        named += [
            (layer.name, layer.type, name, layer.inputs)
            for layer in self._network.layers
            for name in layer.outputs
        ]
        return tuple(self._error(*row) for row in named if row[2] in self._streams)

    def _error(self, layer: str, kind: str, tensor: str, inputs: tuple[str, ...]) -> TensorError:
        stream = self._streams[tensor]
        float_tensor = stream.seen
        assert float_tensor.low is not None, "no input was added"
        assert float_tensor.high is not None
        ratios = [self._streams[n].distance.noise_ratio for n in inputs if n in self._streams]
        before, after = max(ratios, default=0.0), stream.distance.noise_ratio
        # nothing can be added to noise without any signal
        unchanged = before == math.inf or math.isclose(before, after, rel_tol=1e-9)
        return TensorError(
            layer=layer,
            type=kind,
            tensor=tensor,
            runtime=self._runtimes.get(tensor, "cpu"),
            sqnr_db=finite(stream.distance.sqnr_db),
            cosine=finite(stream.distance.cosine),
            max_error=finite(stream.distance.max_error),
            added_noise=0.0 if unchanged else finite(after - before),
            low=finite(float(float_tensor.low.min())),
            high=finite(float(float_tensor.high.max())),
            encoding=stream.encoding,
            clipped=float_tensor.outside / float_tensor.count if float_tensor.count else 0.0,
            constant=float_tensor.constant,
        )
