"""`hexsim validate`: how far a runtime is from float, and which layer is to blame."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._groups import grouped
from hexsim.cli._inputs import Inputs
from hexsim.cli._options import (
    CalibrationListOption,
    CsvOption,
    FloatModelOption,
    InputDimOption,
    JsonOption,
    LabelsOption,
    NoHtaOption,
    OverrideParamsOption,
    ThreadsOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._simulated import Hardware
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.accuracy.outputs import OutputJudge
    from hexsim.accuracy.sensitivity import Sensitivity
    from hexsim.accuracy.study import Study

EXPERIMENT_INPUTS = 16
"""Inputs used by --sensitivity and --explain, the first of the list: each is run once or twice
per layer, and the ranking changes little with more."""

EXPLAINED_LAYERS = 5
"""Layers that --explain speaks of, those that add most noise."""


@grouped
def validate(
    *,
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    inputs: Inputs,
    labels: LabelsOption = None,
    hardware: Hardware,
    runtime: Annotated[str, typer.Option("--runtime", help="One runtime.")] = "dsp",
    input_dim: InputDimOption = None,
    calibration_list: CalibrationListOption = None,
    float_model: FloatModelOption = None,
    override_params: OverrideParamsOption = False,
    no_hta: NoHtaOption = False,
    layers: Annotated[
        bool, typer.Option("--layers", help="All layers in network order, not the worst ten.")
    ] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Rank layers by quantising one at a time.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why the worst layers lose, and the remedy.")
    ] = False,
    threads: ThreadsOption = 0,
    json: JsonOption = None,
    csv: CsvOption = None,
) -> None:
    """Compare a runtime with float: top-1, top-5, and the error of every layer."""
    from hexsim.accuracy.outputs import OutputJudge
    from hexsim.accuracy.study import Study
    from hexsim.accuracy.validation import validate as run_validation
    from hexsim.cli import _compared as compared
    from hexsim.cli._progress import bar
    from hexsim.deployment import deploy
    from hexsim.deployment.offline_hta import prepared
    from hexsim.files import write_text
    from hexsim.reports.validation_csv import validation_csv
    from hexsim.reports.validation_json import validation_json
    from hexsim.reports.validation_table import validation_text
    from hexsim.runtimes import FIXED_POINT

    require_outputs((json, csv), (model, float_model, inputs.input_list, labels, calibration_list))
    platform, asked = hardware.platform(), parse_runtime(runtime)
    platform.chip.require(asked)
    platform.stack.require(asked)
    if asked not in FIXED_POINT and (
        sensitivity or explain or override_params or calibration_list is not None
    ):
        raise HexsimError(
            f"runtime {asked} computes in floats; --sensitivity, --explain, --override-params and "
            f"--calibration-list are for {', '.join(sorted(FIXED_POINT))}"
        )
    dims = parse_input_dims(input_dim)
    given = compared.loaded(model, float_model, dims, override_params=override_params)
    loaded, reference = given.model, given.reference
    platform.require(loaded, asked)
    network = loaded.network
    source = inputs.source(network)
    classes = compared.labelled(labels, source, network)
    encodings = f"{asked} computes in floats, nothing is quantised"
    if asked in FIXED_POINT:
        coded, encodings = compared.quantized(given, platform, calibration_list, source)
        if coded is not loaded:
            loaded = prepared(coded, platform, asked, hta=not no_hta)
    elif loaded.quantized:
        encodings = f"{asked} computes in floats, with constants as the file holds them"
    deployment = deploy(loaded, platform, asked)
    with bar("validating", source.sets) as progress:
        found = run_validation(
            deployment,
            source.feeds(),
            labels=classes,
            batch=source.batch,
            items=source.items,
            threads=threads,
            progress=progress,
        )
    notes: tuple[str, ...] = (source.description, encodings, reference)
    if asked == "aip":
        notes += (f"{len(deployment.on_hta)} of {len(network.layers)} layers on the tensor engine",)
    study = Study(network.name, platform.chip.name, asked, notes, found)
    if asked in FIXED_POINT and (sensitivity or explain):
        first = islice(source.feeds(), EXPERIMENT_INPUTS)
        judge = OutputJudge(deployment, first)
        if sensitivity:
            study = replace(study, sensitivity=_ranked(judge))
        if explain:
            study = _explained(study, judge)
    if json is not None:
        write_text(json, validation_json(study))
    if csv is not None:
        write_text(csv, validation_csv(study))
    typer.echo(validation_text(study, every_layer=layers))


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
