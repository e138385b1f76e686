"""Which layers a network can least afford to have in integers.

Two experiments per layer, both with the integer kernels of the runtime: only this layer is a
fixed-point subnet and all others are float; and all layers are but this one. A layer in integers
has codes as inputs and output as well, so a bad range of a tensor shows in both its neighbours.

Left out: layers that only move codes, layers that fall back to the CPU anyway, and a final
softmax, behind which noise cannot be read (hexsim.accuracy.scores).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import groupby

from hexsim.accuracy.distance import Distance
from hexsim.accuracy.scores import class_scores
from hexsim.execution import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.host.float_execution import FloatEngine
from hexsim.partition import Subnet, partition
from hexsim.plan import make_plan
from hexsim.quantization.quantized import QuantizedNetwork
from hexsim.quantization.quantizer import moves_codes
from hexsim.runtimes import FIXED_POINT, Runtime


@dataclass(frozen=True)
class LayerSensitivity:
    """SQNR of the outputs with only this layer in integers, and with all others."""

    layer: str
    type: str
    only_db: float
    others_db: float


@dataclass(frozen=True)
class Sensitivity:
    """The layers, most sensitive first; `all_db` is the SQNR with every layer in integers."""

    inputs: int
    all_db: float
    layers: tuple[LayerSensitivity, ...]


def sensitivity(
    model: QuantizedNetwork,
    inputs: Iterable[Mapping[str, FloatArray]],
    runtime: Runtime,
    *,
    signed_weights: bool,
    progress: Callable[[int], None] = lambda done: None,
) -> Sensitivity:
    """Measure every layer on `inputs`, which are kept in memory; `runtime` is a fixed-point one.

    `progress` is told how many of `ranked_layers` are done.
    """
    scored = replace(model, network=class_scores(model.network))
    network, feeds = scored.network, list(inputs)
    engine = FloatEngine(network)
    references = [engine.run(feed) for feed in feeds]
    takes = frozenset(
        layer.name
        for subnet in partition(network, runtime)
        if subnet.runtime in FIXED_POINT
        for layer in subnet.layers
    )

    def measure(chosen: AbstractSet[str]) -> float:
        plan = make_plan(scored, runtime, cuts(network, runtime, chosen))
        executor = PlanExecutor(plan, scored, signed_weights=signed_weights)
        return _distance(references, (executor.run(feed) for feed in feeds))

    rows = []
    for done, name in enumerate(ranked_layers(network, runtime), start=1):
        layer = next(layer for layer in network.layers if layer.name == name)
        rows.append(LayerSensitivity(name, layer.type, measure({name}), measure(takes - {name})))
        progress(done)
    rows.sort(key=lambda row: row.only_db)
    return Sensitivity(len(feeds), measure(takes), tuple(rows))


def ranked_layers(network: Network, runtime: Runtime) -> tuple[str, ...]:
    """Names of the layers that compute in integers on `runtime`, a final softmax left out."""
    return tuple(
        layer.name
        for subnet in partition(class_scores(network), runtime)
        if subnet.runtime in FIXED_POINT
        for layer in subnet.layers
        if not moves_codes(layer)
    )


def cuts(network: Network, runtime: Runtime, chosen: AbstractSet[str]) -> list[Subnet]:
    """Cut `network` so that just the layers named in `chosen` run on `runtime`."""
    return [
        Subnet(runtime, tuple(run), "chosen") if inside else Subnet("cpu", tuple(run), "others")
        for inside, run in groupby(network.layers, key=lambda layer: layer.name in chosen)
    ]


def _distance(
    references: Sequence[Mapping[str, FloatArray]], runs: Iterable[Mapping[str, FloatArray]]
) -> float:
    total = Distance()
    for reference, run in zip(references, runs, strict=True):
        for name, array in reference.items():
            if array.dtype.kind == "f":
                total.add(array, run[name])
    return total.sqnr_db
