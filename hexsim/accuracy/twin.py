"""A network in float and on a runtime, side by side, with every tensor in view."""

from __future__ import annotations

from collections.abc import Mapping

from hexsim.deployment import Deployment
from hexsim.graph.ir import FloatArray
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.plan import Plan
from hexsim.runtimes import FIXED_POINT, Runtime

Values = dict[str, FloatArray]


class Twin:
    """Runs both on the same input; one set of activations of each is in memory at a time.

    `tensors` are the names observed: the inputs, every float32 tensor and the outputs.
    `runtimes` says which runtime computes each, or reads it if it is an input; `encodings` has
    those that are codes there. `threads` share the work of a layer, 0 for one per core.
    """

    def __init__(self, deployment: Deployment, threads: int = 0) -> None:
        network = deployment.network
        written = [
            name
            for layer in network.layers
            for name in layer.outputs
            if network.tensors[name].dtype == "float32" or name in network.outputs
        ]
        self.tensors = (*network.inputs, *written)
        self.network = network
        self._float = FloatEngine(network, outputs=written, threads=threads)
        observed = deployment.observing(written)
        self._runtime = observed.executor(threads)
        self.runtimes = _runtimes(observed.plan)
        self.encodings = {
            name: deployment.loaded.activations[name]
            for name, runtime in self.runtimes.items()
            if runtime in FIXED_POINT
        }

    def run(self, feed: Mapping[str, FloatArray]) -> tuple[Values, Values]:
        """Return the values of `tensors` in float and on the runtime, in stored order.

        Tensors of the runtime that are codes come as the reals the codes stand for; that holds
        for the network's inputs too, where a fixed-point subnet reads them.
        """
        inputs = dict(feed)
        coded = {
            name: self.encodings[name].dequantize(self.encodings[name].quantize(array))
            for name, array in inputs.items()
            if name in self.encodings
        }
        return (
            {**inputs, **self._float.run(feed)},
            {**inputs, **coded, **self._runtime.run(feed)},
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
