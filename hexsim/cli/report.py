"""`hexsim report` examines a model on each runtime of a chip, and writes a page for a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hexsim.runtimes import FIXED_POINT

if TYPE_CHECKING:
    from hexsim.deployment import Deployment
    from hexsim.deployment.given import GivenModel
    from hexsim.deployment.platform import Platform
    from hexsim.inputs.split import InputRoles
    from hexsim.reports.pages.model_page import OnRuntime
    from hexsim.results.benchmark import Inference
    from hexsim.results.partition import Partition
    from hexsim.results.validation import Validation

from collections.abc import Mapping
from dataclasses import replace
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


@dataclass(frozen=True)
class Examination:
    """A model to examine; without `inputs` no values are computed."""

    given: GivenModel
    platform: Platform
    inputs: InputRoles | None
    progress: Callable[[str], None]

    def of(self, cases: Sequence[Inference]) -> Iterator[OnRuntime]:
        """Add its cut and its errors to each case, if there are any."""
        from hexsim.reports.pages.model_page import OnRuntime

        for case in cases:
            deployment = self.given.deployment(case.runtime)
            study = self._study(deployment, case)
            cut = self._cut(deployment, case) if case.runtime == "aip" else None
            yield OnRuntime(case, study, cut)

    def _study(self, deployment: Deployment, case: Inference) -> Validation | None:
        from msgspec.structs import replace

        from hexsim.accuracy.validation import distributions, validate
        from hexsim.deployment.findings import findings_of
        from hexsim.results.costs import Loss
        from hexsim.results.fields import taken
        from hexsim.studies.validation import distribution_of, document_of

        if self.inputs is None or (runtime := case.runtime) not in FIXED_POINT:
            return None
        source = self.inputs.judging
        self.progress(f"comparing {runtime} with float")
        batch, items = source.batch, source.items
        compared = validate(deployment, source.feeds(), batch=batch, items=items)
        network = deployment.network
        counts = distributions(network, compared.layers, source.feeds(), batch=batch, items=items)
        quantised = (f"quantised on {self.inputs.calibration}",) if self.inputs.calibrating else ()
        notes = (source.description, *quantised)
        losses = findings_of(deployment, case.perf_profile, at_load=True)
        return replace(
            document_of(deployment, compared, notes),
            distributions=tuple(map(distribution_of, counts)),
            findings=tuple(taken(Loss, loss) for loss in losses),
        )

    def _cut(self, deployment: Deployment, case: Inference) -> Partition:
        from hexsim.studies.cuts import LayerTimes, Prices, compiled_sections, survey

        self.progress("explaining the cuts of aip")
        prices = Prices(LayerTimes(deployment, case.perf_profile))
        return survey(prices, compiled_sections(deployment))


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
