"""Why a layer adds noise: each suspect is removed in turn and the layer run again.

The layer runs alone, in the integer kernels of its runtime, on the float values of its inputs.
So what earlier layers did wrong does not count, and what removing a cause wins is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from hexsim.accuracy.causes import Cause, suspects
from hexsim.accuracy.distance import Distance
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.outputs import cuts
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Layer
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.plan import make_plan
from hexsim.quantization.quantized import QuantizedNetwork
from hexsim.runtimes import FIXED_POINT, Runtime

WORTH_SAYING_DB = 1.0
"""Smallest gain for which a cause is reported (our choice: a change one can measure again)."""


@dataclass(frozen=True)
class Finding:
    """A cause at work, and the SQNR of the layer alone without it."""

    cause: Cause
    remedied_db: float


@dataclass(frozen=True)
class Diagnosis:
    """A layer alone on float inputs: its SQNR, and what it suffers from, dominant cause first."""

    layer: str
    type: str
    alone_db: float
    findings: tuple[Finding, ...]


def diagnose(
    model: QuantizedNetwork,
    errors: Sequence[LayerError],
    names: Sequence[str],
    inputs: Iterable[Mapping[str, FloatArray]],
    *,
    signed_weights: bool,
    on_hta: AbstractSet[str] = frozenset(),
) -> tuple[Diagnosis, ...]:
    """Explain the layers `names`, which run in fixed point; `errors` are those of all tensors.

    Those in `on_hta` are tried on the tensor engine, for whose kernels no weights are rescaled.
    """
    network = model.network
    runtimes = {row.layer: row.runtime for row in errors}
    trials = [
        _Trials(layer, model, runtimes[layer.name], errors, signed_weights, on_hta)
        for layer in network.layers
        if layer.name in names and runtimes[layer.name] in FIXED_POINT
    ]
    if not trials:
        return ()
    needed = {name for trial in trials for name in trial.tensors}
    engine = FloatEngine(network, outputs=[n for n in network.tensors if n in needed])
    for feed in inputs:
        values = engine.run(feed)
        for trial in trials:
            trial.add(values)
    by_name = {trial.layer.name: trial.diagnosis() for trial in trials}
    return tuple(by_name[name] for name in names if name in by_name)


class _Trials:
    """One layer as it is, and without each of its suspects."""

    def __init__(
        self,
        layer: Layer,
        model: QuantizedNetwork,
        runtime: Runtime,
        errors: Sequence[LayerError],
        signed_weights: bool,
        on_hta: AbstractSet[str],
    ) -> None:
        self.layer = layer
        tensors = model.network.tensors
        self._inputs = [n for n in dict.fromkeys(layer.inputs) if n in tensors]
        self.tensors = (*self._inputs, *layer.outputs)
        self._causes = suspects(layer, model, {row.tensor: row for row in errors})
        models = (model, *(cause.remedied for cause in self._causes))
        self._executors = [_alone(layer, m, runtime, signed_weights, on_hta) for m in models]
        self._distances = [Distance() for _ in models]

    def add(self, values: Mapping[str, FloatArray]) -> None:
        """Run all trials on one input's float values."""
        feed = {name: values[name] for name in self._inputs}
        for executor, distance in zip(self._executors, self._distances, strict=True):
            for name, array in executor.run(feed).items():
                distance.add(values[name], array)

    def diagnosis(self) -> Diagnosis:
        """What the trials showed."""
        alone_db, *remedied = (distance.sqnr_db for distance in self._distances)
        findings = [
            Finding(cause, db)
            for cause, db in zip(self._causes, remedied, strict=True)
            if db >= alone_db + WORTH_SAYING_DB
        ]
        findings.sort(key=lambda finding: -finding.remedied_db)
        return Diagnosis(self.layer.name, self.layer.type, alone_db, tuple(findings))


def _alone(
    layer: Layer,
    model: QuantizedNetwork,
    runtime: Runtime,
    signed_weights: bool,
    on_hta: AbstractSet[str],
) -> PlanExecutor:
    inputs = [n for n in dict.fromkeys(layer.inputs) if n in model.network.tensors]
    part = model.network.subnetwork([layer], inputs, layer.outputs)
    single = replace(model, network=part)
    plan = make_plan(single, runtime, cuts(part, runtime, {layer.name}, on_hta))
    return PlanExecutor(plan, single, signed_weights=signed_weights)
