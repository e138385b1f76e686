"""A network in float and on a runtime, side by side, with every tensor in view."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.partition import partition
from hexsim.planning.plan import Plan, make_plan
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.quantized import QuantizedNetwork, float_network
from hexsim.runtimes import FIXED_POINT, Runtime

Values = dict[str, FloatArray]


class Twin:
    """Runs both on the same input; one set of activations of each is in memory at a time.

    `tensors` are the names observed: the inputs, every float32 tensor and the outputs.
    `runtimes` says which runtime computes each, or reads it if it is an input; `encodings` has
    those that are codes there. `signed_weights` is for HVX, as in `PlanExecutor`; the layers named
    in `on_hta` run on the tensor engine instead.
    """

    def __init__(
        self,
        model: Network | QuantizedNetwork,
        runtime: Runtime,
        *,
        signed_weights: bool,
        on_hta: AbstractSet[str] = frozenset(),
        threads: int = 0,
    ) -> None:
        network = float_network(model)
        written = [
            name
            for layer in network.layers
            for name in layer.outputs
            if network.tensors[name].dtype == "float32" or name in network.outputs
        ]
        self.tensors = (*network.inputs, *written)
        self.network = network
        self._float = FloatEngine(network, outputs=written, threads=threads)
        observed = _with_outputs(model, tuple(written))
        plan = make_plan(observed, runtime, partition(observed, runtime, sections=(on_hta,)))
        self._runtime = PlanExecutor(plan, observed, signed_weights=signed_weights, threads=threads)
        self.runtimes = _runtimes(plan)
        self.encodings = _encodings(self.runtimes, model)

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


def _with_outputs(
    model: Network | QuantizedNetwork, names: tuple[str, ...]
) -> Network | QuantizedNetwork:
    network = replace(float_network(model), outputs=names)
    return replace(model, network=network) if isinstance(model, QuantizedNetwork) else network


def _runtimes(plan: Plan) -> dict[str, Runtime]:
    readers = {name: subnet.runtime for subnet in plan.subnets for name in subnet.inputs}
    writers = {
        name: subnet.runtime
        for subnet in plan.subnets
        for layer in subnet.layers
        for name in layer.outputs
    }
    return {**readers, **writers}


def _encodings(
    runtimes: Mapping[str, Runtime], model: Network | QuantizedNetwork
) -> dict[str, Encoding]:
    if not isinstance(model, QuantizedNetwork):
        return {}
    return {n: model.activations[n] for n, on in runtimes.items() if on in FIXED_POINT}
