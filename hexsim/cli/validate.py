"""`hexsim validate` compares a runtime with float, and shows the layers with errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

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
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import RuntimeOnChip
from hexsim.cli._workers import SharedOut


@dataclass(frozen=True)
class Compared:
    """Options to read a model, to quantise it if it is float, and to choose its reference."""

    input_dim: InputDimOption = None
    float_model: FloatModelOption = None
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False


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
    from hexsim.api import validate as api
    from hexsim.cli._system import keep_large_arrays
    from hexsim.reports.validation import validation_text

    sharing = shared_out.settings()
    if set(sharing.values()) == {None}:
        keep_large_arrays()
    how: api.Comparing = {
        **runs_on.settings(),
        **inputs.judging(),
        **sharing,
        "float_model": compared.float_model,
        "override_params": compared.override_params,
        "hta": not compared.no_hta,
        "input_dims": parse_input_dims(compared.input_dim),
        "threads": threads,
    }
    answer = api.validate(
        model,
        runs_on.chip,
        runs_on.parsed_runtime(),
        sensitivity=findings.sensitivity,
        explain=findings.explain,
        counted=outputs.json is not None or outputs.html is not None,
        **how,
    )
    outputs.write(answer)
    say(validation_text(answer, every_layer=findings.layers))
