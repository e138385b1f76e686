"""Experiments of `hexsim validate`: which layers matter, and why some of them lose accuracy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hexsim.accuracy.outputs import OutputJudge
    from hexsim.accuracy.sensitivity import Sensitivity
    from hexsim.accuracy.study import Study
    from hexsim.deployment import Deployment
    from hexsim.inputs.source import InputSource

EXPERIMENT_INPUTS = 16
"""Number of inputs for --sensitivity and --explain, the first of the list.

Each is run once or twice per layer, and the ranking changes little with more."""

EXPLAINED_LAYERS = 5
"""Number of layers that --explain examines, those that add most noise."""


@dataclass(frozen=True)
class Findings:
    """The layers to show, and the experiments to do."""

    layers: Annotated[
        bool, typer.Option("--layers", help="All layers in network order, not the worst ten.")
    ] = False
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Rank layers by quantising one at a time.")
    ] = False
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show why the worst layers lose accuracy, and what would help."
        ),
    ] = False

    def added(self, study: Study, deployment: Deployment, source: InputSource) -> Study:
        """Return the study with the results of the requested experiments."""
        from hexsim.accuracy.outputs import OutputJudge

        if not (self.sensitivity or self.explain):
            return study
        items = min(source.items, EXPERIMENT_INPUTS * source.batch)
        judge = OutputJudge(deployment, islice(source.feeds(), EXPERIMENT_INPUTS), items)
        if self.sensitivity:
            study = replace(study, sensitivity=_ranked(judge))
        return _explained(study, judge) if self.explain else study


def _ranked(judge: OutputJudge) -> Sensitivity:
    from hexsim.accuracy.sensitivity import sensitivity
    from hexsim.cli._progress import status

    with status() as progress:
        return sensitivity(
            judge.deployment.loaded,
            judge,
            lambda done, total: progress(f"ranking layers: {done} of {total}"),
        )


def _explained(study: Study, judge: OutputJudge) -> Study:
    from hexsim.accuracy.diagnosis import diagnose
    from hexsim.accuracy.layer_errors import most_added
    from hexsim.accuracy.remedies import try_remedies

    errors = study.validation.layers
    worst = dict.fromkeys(row.layer for row in most_added(errors) if row.added_noise > 0)
    deployment = judge.deployment
    names = {layer.name for layer in deployment.network.layers}
    chosen = [name for name in worst if name in names][:EXPLAINED_LAYERS]
    diagnoses = diagnose(deployment, errors, chosen, judge.inputs)
    remedies = try_remedies(deployment.loaded, errors, judge)
    return replace(study, diagnoses=diagnoses, remedies=remedies)
