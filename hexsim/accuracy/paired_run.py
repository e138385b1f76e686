"""Run a network in float and on a runtime, and observe every tensor of both."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Protocol

from hexsim.deployment import Deployment
from hexsim.execution.subnet_executor import SubnetExecutor
from hexsim.graph.ir import FloatArray
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.plan import Plan
from hexsim.quantization.float_inputs import input_codes
from hexsim.runtimes import FIXED_POINT, Runtime

Values = dict[str, FloatArray]
Pair = tuple[Values, Values]
"""In float and on the runtime."""


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
    input.
    """

    def __init__(self, deployment: Deployment, threads: int = 0) -> None:
        network = deployment.network
        computed = [
            name
            for layer in network.layers
            for name in layer.outputs
            if network.tensors[name].dtype == "float32" or name in network.outputs
        ]
        self.tensors = (*network.inputs, *computed)
        tensors = network.tensors
        self.measured = tuple(
            name
            for name in self.tensors
            if tensors[name].dtype == "float32"
            and tensors[name].elements
            and not tensors[name].varies
        )
        self.network = network
        self.threads = threads
        self._written = computed
        self._observed = deployment.observing(computed)
        self.runtimes = _runtimes(self._observed.plan)
        self.encodings = {
            name: deployment.loaded.activation(name)
            for name, runtime in self.runtimes.items()
            if runtime in FIXED_POINT
        }

    @cached_property
    def _float(self) -> FloatEngine:
        return FloatEngine(self.network, outputs=self._written, threads=self.threads)

    @cached_property
    def _runtime(self) -> _Executors:
        return self._observed.executor(self.threads)

    def run(self, feed: Mapping[str, FloatArray]) -> Pair:
        """Return the values of `tensors` in float and on the runtime, in stored order.

        Quantised tensors of the runtime are dequantised; so are the network's inputs that a
        fixed-point subnet reads.
        """
        return self._pair(feed, self._runtime)

    def contexts(self, count: int) -> list[Callable[[Mapping[str, FloatArray]], Pair]]:
        """Return `count` functions like `run` for parallel use; they share the float network."""
        _ = self._float  # created before several threads use it
        return [partial(self._pair, runtime=context) for context in self._runtime.contexts(count)]

    def _pair(self, feed: Mapping[str, FloatArray], runtime: SubnetExecutor) -> Pair:
        inputs = dict(feed)
        coded = {
            name: self.encodings[name].dequantize(input_codes(array, self.encodings[name]))
            for name, array in inputs.items()
            if name in self.encodings
        }
        return (
            {**inputs, **self._float.run(feed)},
            {**inputs, **coded, **runtime.run(feed)},
        )


def _runtimes(plan: Plan) -> dict[str, Runtime]:
    readers = {name: subnet.runtime for subnet in plan.subnets for name in subnet.inputs}
    writers = {
        name: subnet.runtime
        for subnet in plan.subnets
        for layer in subnet.layers
        for name in layer.outputs
    }
    return {**readers, **writers}
