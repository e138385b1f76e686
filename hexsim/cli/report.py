"""`hexsim report` writes a page for a browser about one model on one chip."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from hexsim.cli._files import Writes
from hexsim.cli._groups import grouped
from hexsim.cli._inputs import JudgingInputs
from hexsim.cli._options import (
    InputDimOption,
    ModelArgument,
    parse_input_dims,
    parse_runtimes,
)
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._overrides import print_findings
from hexsim.cli._say import command_line, say
from hexsim.cli._simulated import CallOptions, Hardware, Power


def _target(given: Mapping[str, Any]) -> Path:
    return beside_model(given, f"{Path(given['model']).name}.report.html")


@dataclass(frozen=True)
class ReportPage(Outputs):
    """The page."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Default: the model's name and .report.html."),
        Writes(_target),
    ] = None


@dataclass(frozen=True)
class Depth(JudgingInputs):
    """The inputs to compare values on, and parts to leave out."""

    timing_only: Annotated[
        bool, typer.Option("--timing-only", help="Leave values and accuracy out.")
    ] = False
    no_uncertainty: Annotated[
        bool, typer.Option("--no-uncertainty", help="Leave intervals and constants out.")
    ] = False


@grouped
def report(
    *,
    model: ModelArgument,
    hardware: Hardware,
    runtime: Annotated[
        str, typer.Option("--runtime", help="One or more, comma separated: dsp,cpu.")
    ] = "dsp",
    power: Power,
    circumstances: CallOptions,
    input_dim: InputDimOption = None,
    depth: Depth,
    outputs: ReportPage,
) -> None:
    """Write an HTML page on a model: times, timeline, roofline, memory, errors and constants.

    It is one file that needs no network. A float model is quantised where the runtime asks for it.
    """
    depth.require_one_kind()
    platform = power.of(hardware.platform())

    from hexsim.cli._progress import status
    from hexsim.cli._report import Examination
    from hexsim.deployment.given import GivenModel
    from hexsim.dlc.loading import load_container
    from hexsim.reports.pages.figures.chart import load_bokeh
    from hexsim.reports.pages.model_page import model_page
    from hexsim.studies.benchmark import answered, run_benchmark

    load_bokeh()
    runtimes, dims = parse_runtimes(runtime) or (), parse_input_dims(input_dim)
    preparation = replace(circumstances.preparation(), quantize=True)
    with status() as progress:
        read = load_container(model, input_dims=dims)
        given = GivenModel(model, read, platform, preparation, progress)
        inputs = None
        if not depth.timing_only:
            inputs = depth.roles(given.model, runtimes, given.overrides)
            given.calibrate_on(inputs)
        conditions = circumstances.conditions(
            platform,
            power,
            sweep=None if depth.no_uncertainty else "everything",
            accuracy=not depth.timing_only,
            inputs=(lambda model: inputs) if depth.given and inputs else None,
            preparation=preparation,
            input_dims=dims,
            recorded=True,
            roofs=True,
        )
        results = run_benchmark([model], platform, runtimes, conditions, progress)
        cases, refusals = answered(results)
        print_findings(*((case.network, case.findings) for case in cases))
        examinations = list(Examination(given, platform, inputs, progress).of(cases))
        is_coded = any(examination.study is not None for examination in examinations)
        counted = given.quantized if is_coded else given.model
        progress("drawing")
        page = model_page(examinations, refusals, counted, command_line())
    outputs.write(output=lambda: page)
    say(f"wrote {outputs.output}")
