"""The SQNR of a network's outputs with any choice of layers in integers.

It is taken before a final softmax (hexsim.accuracy.scores), behind which noise cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby

from hexsim.accuracy.distance import Distance
from hexsim.accuracy.scores import class_scores, scored
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Layer, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.partition import Subnet, partition
from hexsim.planning.plan import make_plan
from hexsim.quantization.quantized import QuantizedNetwork, float_network
from hexsim.runtimes import FIXED_POINT, MAIN_ENGINE, Engine, Runtime


class OutputJudge:
    """Compares runs of one network on `inputs`, which are kept, with their float outputs.

    `network` is the network judged, without its final softmax; `takes` names its layers that
    `runtime`, a fixed-point one, takes; those in `on_hta` run on the tensor engine.
    """

    def __init__(
        self,
        model: Network | QuantizedNetwork,
        inputs: Iterable[Mapping[str, FloatArray]],
        runtime: Runtime,
        *,
        signed_weights: bool,
        on_hta: AbstractSet[str] = frozenset(),
    ) -> None:
        network = class_scores(float_network(model))
        self.network = network
        self.inputs = list(inputs)
        self.takes = frozenset(layers_on(scored(model), runtime, on_hta))
        self._runtime: Runtime = runtime
        self._signed_weights = signed_weights
        self._on_hta = on_hta
        engine = FloatEngine(self.network)
        self._references = [engine.run(feed) for feed in self.inputs]

    def sqnr_db(self, model: QuantizedNetwork, chosen: AbstractSet[str]) -> float:
        """SQNR of all outputs together, the layers named in `chosen` running in integers.

        `model` is the network judged, or one with the same layers and other parameters.
        """
        scored = replace(model, network=class_scores(model.network))
        subnets = cuts(scored.network, self._runtime, chosen, self._on_hta)
        plan = make_plan(scored, self._runtime, subnets)
        executor = PlanExecutor(plan, scored, signed_weights=self._signed_weights)
        total = Distance()
        for feed, reference in zip(self.inputs, self._references, strict=True):
            run = executor.run(feed)
            for name, array in reference.items():
                if array.dtype.kind == "f":
                    total.add(array, run[name])
        return total.sqnr_db


def layers_on(
    model: Network | QuantizedNetwork, runtime: Runtime, on_hta: AbstractSet[str] = frozenset()
) -> tuple[str, ...]:
    """Names of the layers that a fixed-point `runtime` takes, in order."""
    return tuple(
        layer.name
        for subnet in partition(model, runtime, sections=(on_hta,))
        if subnet.runtime in FIXED_POINT
        for layer in subnet.layers
    )


def cuts(
    network: Network,
    runtime: Runtime,
    chosen: AbstractSet[str],
    on_hta: AbstractSet[str] = frozenset(),
) -> list[Subnet]:
    """Cut `network` so that just the layers named in `chosen` run on `runtime`.

    Those that are in `on_hta` too run on the tensor engine, the others on the main one.
    """

    def place(layer: Layer) -> tuple[Runtime, Engine]:
        if layer.name not in chosen:
            return "cpu", "cpu"
        return runtime, "hta" if layer.name in on_hta else MAIN_ENGINE[runtime]

    return [
        Subnet(where, engine, tuple(run), "others" if where == "cpu" else "chosen")
        for (where, engine), run in groupby(network.layers, key=place)
    ]
