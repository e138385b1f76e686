"""Find why a layer adds noise: each possible cause is removed in turn and the layer run again.

The layer runs alone, in the integer kernels of its runtime, on the float values of its inputs.
So errors of earlier layers do not count, and the gain of removing a cause is measured.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hexsim.accuracy.causes import Cause, suspects
from hexsim.accuracy.distance import Distance
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.outputs import layers_on, with_chosen
from hexsim.deployment import Deployment
from hexsim.execution.subnet_executor import SubnetExecutor
from hexsim.graph.ir import FloatArray, Layer
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.model import Model

LEAST_GAIN_DB = 1.0
"""Least gain in dB for which a cause is reported (our choice: a change that can be measured)."""


@dataclass(frozen=True)
class DiagnosedCause:
    """A confirmed cause, and the SQNR of the layer alone without it."""

    cause: Cause
    remedied_db: float


@dataclass(frozen=True)
class Diagnosis:
    """A layer alone on float inputs: its SQNR, and the causes of its noise, dominant one first."""

    layer: str
    type: str
    alone_db: float
    findings: tuple[DiagnosedCause, ...]


def diagnose(
    deployment: Deployment,
    errors: Sequence[LayerError],
    names: Sequence[str],
    inputs: Iterable[Mapping[str, FloatArray]],
) -> tuple[Diagnosis, ...]:
    """Explain the fixed-point layers `names`; `errors` has the rows of all tensors."""
    network = deployment.network
    takes = layers_on(deployment)
    trials = [
        _Trials(layer, deployment, errors)
        for layer in network.layers
        if layer.name in names and layer.name in takes
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
    """One layer as it is, and without each of its possible causes."""

    def __init__(self, layer: Layer, deployment: Deployment, errors: Sequence[LayerError]) -> None:
        self.layer = layer
        model = deployment.loaded
        tensors = model.network.tensors
        self._inputs = [n for n in dict.fromkeys(layer.inputs) if n in tensors]
        self.tensors = (*self._inputs, *layer.outputs)
        self._causes = suspects(layer, model, {row.tensor: row for row in errors})
        models = (model, *(cause.remedied for cause in self._causes))
        self._executors = [self._alone(deployment, model) for model in models]
        self._distances = [Distance() for _ in models]

    def add(self, values: Mapping[str, FloatArray]) -> None:
        """Run all trials on one input's float values."""
        feed = {name: values[name] for name in self._inputs}
        for executor, distance in zip(self._executors, self._distances, strict=True):
            for name, array in executor.run(feed).items():
                distance.add(values[name], array)

    def diagnosis(self) -> Diagnosis:
        """Return the causes that the trials confirmed."""
        alone_db, *remedied = (distance.sqnr_db for distance in self._distances)
        findings = [
            DiagnosedCause(cause, db)
            for cause, db in zip(self._causes, remedied, strict=True)
            if db >= alone_db + LEAST_GAIN_DB
        ]
        findings.sort(key=lambda finding: -finding.remedied_db)
        return Diagnosis(self.layer.name, self.layer.type, alone_db, tuple(findings))

    def _alone(self, deployment: Deployment, model: Model) -> SubnetExecutor:
        part = model.network.subnetwork([self.layer], self._inputs, self.layer.outputs)
        single = replace(model, network=part)
        return with_chosen(deployment, single, {self.layer.name}).executor()
