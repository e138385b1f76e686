"""`hexsim validate` compares a runtime with float, and shows the layers with errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hexsim.cli._compared import Compared
from hexsim.cli._findings import Findings
from hexsim.cli._groups import grouped
from hexsim.cli._inputs import LabelledInputs
from hexsim.cli._options import ModelArgument, ThreadsOption
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._overrides import print_findings
from hexsim.cli._page import paged
from hexsim.cli._say import command_line, say
from hexsim.cli._simulated import RuntimeOnChip
from hexsim.cli._workers import SharedOut
from hexsim.errors import HexsimError
from hexsim.runtimes import FIXED_POINT, Runtime

if TYPE_CHECKING:
    from hexsim.accuracy.labels import Classes
    from hexsim.accuracy.study import Study
    from hexsim.accuracy.validation import Validation
    from hexsim.cli._compared import ComparedModel
    from hexsim.deployment import Deployment
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource
    from hexsim.quantization.model import Model

EXAMPLES = {"validate": ("hexsim validate model.onnx --images pictures --labels labels.txt",)}


@paged
@grouped
def validate(
    *,
    model: ModelArgument,
    inputs: LabelledInputs,
    runs_on: RuntimeOnChip,
    compared: Compared,
    findings: Findings,
    threads: ThreadsOption = 0,
    shared_out: SharedOut,
    outputs: JsonCsvHtml,
) -> None:
    """Compare a runtime with float: top-1, top-5, and the error of every layer."""
    outputs.check()
    shared_out.check()
    platform, runtime = runs_on.platform(), runs_on.asked()

    from hexsim.accuracy.study import Study
    from hexsim.deployment import deploy
    from hexsim.deployment.findings import findings_of
    from hexsim.reports.validation.data import validation_csv, validation_facts
    from hexsim.reports.validation.table import validation_text

    platform.chip.require(runtime)
    platform.stack.require(runtime)
    _require_suitable(runtime, compared, findings, inputs)
    given = compared.loaded(model)
    platform.require(given.model, runtime)
    network = given.model.network
    roles = inputs.roles(given.model, [runtime], given.overrides)
    source, classes = roles.judging, roles.labels
    if runtime in FIXED_POINT:
        loaded, encodings = compared.quantized(given, platform, roles, runtime)
    else:
        loaded, encodings = _in_floats(given, runtime)
    deployment = deploy(loaded, platform, runtime)
    validation = _validated(deployment, source, classes, threads, given.original, shared_out)
    encodings += inputs.calibrated_too(given.quantizer_command)
    notes: tuple[str, ...] = (source.description, encodings, given.reference, *loaded.notes)
    if runtime == "aip":
        notes += (f"{len(deployment.on_hta)} of {len(network.layers)} layers on the tensor engine",)
    study = Study(network.name, platform.chip.name, runtime, notes, validation)
    if runtime in FIXED_POINT:
        study = replace(study, findings=findings_of(deployment, at_load=True))
        print_findings((network.name, study.findings))
        study = findings.added(study, deployment, source)
        if outputs.json is not None or outputs.html is not None:
            study = _counted(study, deployment, source, threads)

    def html() -> str:
        from hexsim.reports.pages.command_pages import validation_page

        return validation_page(study, network, command_line())

    outputs.write(
        json=lambda: validation_facts.json(study),
        csv=lambda: validation_csv(study),
        html=html,
    )
    say(validation_text(study, every_layer=findings.layers))


def _require_suitable(
    runtime: Runtime, compared: Compared, findings: Findings, inputs: LabelledInputs
) -> None:
    if runtime not in FIXED_POINT and (
        findings.sensitivity
        or findings.explain
        or compared.override_params
        or inputs.calibration_list is not None
    ):
        raise HexsimError(
            f"runtime {runtime} computes in floats; --sensitivity, --explain, --override-params "
            f"and --calibration-list are for {', '.join(sorted(FIXED_POINT))}"
        )


def _in_floats(given: ComparedModel, runtime: Runtime) -> tuple[Model, str]:
    """Return the model as a runtime loads it that computes in floats, and a text about that."""
    if given.model.quantized:
        return given.model, f"{runtime} computes in floats, with constants as the file holds them"
    return given.model, f"{runtime} computes in floats, nothing is quantised"


def _validated(
    deployment: Deployment,
    source: InputSource,
    classes: tuple[Classes, ...] | None,
    threads: int,
    original: Network | None,
    shared_out: SharedOut,
) -> Validation:
    from hexsim.accuracy.validation import validate
    from hexsim.cli._allocation import keep_large_arrays
    from hexsim.cli._progress import bar
    from hexsim.studies.sharded import validate_sharded

    how: dict[str, Any] = {"labels": classes, "threads": threads, "original": original}
    if shared_out.asked:
        with (
            shared_out.pool() as pool,
            bar(f"validating; {pool.description}", source.sets) as progress,
        ):
            return validate_sharded(pool, deployment, source, progress=progress, **how)
    keep_large_arrays()
    how |= {"batch": source.batch, "items": source.items}
    with bar("validating", source.sets) as progress:
        return validate(deployment, source.feeds(), progress=progress, **how)


def _counted(study: Study, deployment: Deployment, source: InputSource, threads: int) -> Study:
    """Add the distributions of the worst tensors, which only files show."""
    from hexsim.accuracy.distributions import distributions
    from hexsim.cli._progress import bar

    with bar("counting values", source.sets) as progress:
        counts = distributions(
            deployment.network,
            study.validation.layers,
            source.feeds(),
            batch=source.batch,
            items=source.items,
            threads=threads,
            progress=progress,
        )
    return replace(study, distributions=counts)
