"""`hexsim validate` compares a runtime with float, and shows the layers with errors."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._inputs import LabelledInputs
from hexsim.cli._options import (
    FloatModelOption,
    InputDimOption,
    ModelArgument,
    NoHtaOption,
    OverrideParamsOption,
    ThreadsOption,
    parse_input_dims,
)
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._overrides import print_findings
from hexsim.cli._say import command_line, say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import RuntimeOnChip
from hexsim.cli._workers import SharedOut

if TYPE_CHECKING:
    from hexsim.studies.judging import ComparedModel


@dataclass(frozen=True)
class Compared:
    """Options to read a model, to quantise it if it is float, and to choose its reference."""

    input_dim: InputDimOption = None
    float_model: FloatModelOption = None
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False

    def loaded(self, model: str) -> ComparedModel:
        """Load the model, with the weights of the float model if that is given."""
        from hexsim.studies.judging import ComparedModel

        dims = parse_input_dims(self.input_dim)
        return ComparedModel.load(model, self.float_model, dims, self.override_params)


EXAMPLES = {"validate": ("hexsim validate model.onnx --images pictures --labels labels.txt",)}


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
    shared_out.check()
    platform, runtime = runs_on.platform(), runs_on.parsed_runtime()

    from hexsim.cli._progress import bar
    from hexsim.cli._system import keep_large_arrays
    from hexsim.reports.validation import validation_csv, validation_text
    from hexsim.studies.validation import Question, require_fixed_point, run_validation

    platform.chip.require(runtime)
    platform.stack.require(runtime)
    of_codes = (compared.override_params, inputs.calibration_list)
    require_fixed_point(runtime, findings.sensitivity, findings.explain, *of_codes)
    given = compared.loaded(model)
    platform.require(given.model, runtime)
    question = Question(
        given,
        platform,
        runtime,
        inputs.roles(given.model, [runtime], given.overrides),
        inputs.calibrated_too(given.quantizer_command),
        hta=not compared.no_hta,
        sensitivity=findings.sensitivity,
        explain=findings.explain,
        counted=outputs.json is not None or outputs.html is not None,
        threads=threads,
    )
    with ExitStack() as stack:
        if shared_out.distributes:
            question = replace(question, pool=stack.enter_context(shared_out.pool()))
        else:
            keep_large_arrays()
        answer = run_validation(question, bar)
    print_findings((answer.network, answer.findings))

    def html() -> str:
        from hexsim.reports.pages.command_pages import validation_page

        return validation_page(answer, command_line())

    outputs.write(json=answer.to_json, csv=lambda: validation_csv(answer), html=html)
    say(validation_text(answer, every_layer=findings.layers))
