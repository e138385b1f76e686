"""`hexsim MODEL` or `hexsim overview MODEL` answers on a model, in one block or as a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hexsim.cli._inputs import JudgingInputs
from hexsim.cli._options import (
    InputDimOption,
    ModelArgument,
    parse_input_dims,
    parse_runtimes,
    runtime_names,
)
from hexsim.cli._output import Html
from hexsim.cli._overrides import print_findings
from hexsim.cli._say import command_line, say
from hexsim.cli._signature import grouped
from hexsim.cli._simulated import Comparing, Hardware, Power
from hexsim.errors import HexsimError, spelled
from hexsim.runtimes import FIXED_POINT, Runtime, preferred

if TYPE_CHECKING:
    from hexsim.deployment.given import GivenModel
    from hexsim.inputs.source import InputRoles
    from hexsim.reports.pages.command_pages import OnRuntime
    from hexsim.results.benchmark import Inference, Refusal

EXAMPLES = {
    "overview": (
        "hexsim mobilenet_v2 --chip sd855",
        "hexsim model.onnx --chip sd8gen2",
        "hexsim model.onnx --chip sd855 --runtime dsp,aip --html page.html",
    ),
}


@dataclass(frozen=True)
class OfPage(JudgingInputs):
    """The inputs to compare values on, and parts of the page to leave out."""

    timing_only: Annotated[
        bool, typer.Option("--timing-only", help="Leave values and accuracy out of the page.")
    ] = False
    no_uncertainty: Annotated[
        bool, typer.Option("--no-uncertainty", help="Leave intervals and constants out of it.")
    ] = False

    def require_page(self) -> None:
        """Raise HexsimError if one of these options is given."""
        if self != OfPage():
            raise HexsimError(
                f"inputs, {spelled('timing_only')} and {spelled('no_uncertainty')} are for the "
                f"page; give its name with {spelled('html')}"
            )

    def judging(self, given: GivenModel, runtimes: Sequence[Runtime]) -> InputRoles | None:
        """Calibrate the model, and return the inputs; None if no values are asked for."""
        if self.timing_only:
            return None
        roles = self.roles(given.model, runtimes, given.overrides)
        given.calibrate_on(roles)
        return roles

    def conditions(self, examination: Examination | None) -> dict[str, Any]:
        """Return the fields of the conditions of a benchmark that a page needs, or a block."""
        if examination is None:
            return {"sweep": "a few draws", "accuracy": False}
        inputs = examination.inputs
        return {
            "sweep": None if self.no_uncertainty else "everything",
            "accuracy": inputs is not None,
            "inputs": (lambda model: inputs) if self.has_inputs and inputs else None,
            "recorded": True,
            "roofs": True,
        }


@dataclass(frozen=True)
class Examination:
    """A model to examine for its page; without `inputs` no values are computed."""

    given: GivenModel
    inputs: InputRoles | None
    progress: Callable[[str], None]

    def page(self, cases: Sequence[Inference], refusals: Sequence[Refusal]) -> str:
        """Return the page."""
        from hexsim.reports.pages.command_pages import model_page

        print_findings(*((case.network, case.findings) for case in cases))
        results = list(self._examined(cases))
        coded = any(result.study is not None for result in results)
        counted = self.given.quantized if coded else self.given.model
        self.progress("drawing")
        return model_page(results, refusals, counted, command_line())

    def _examined(self, cases: Sequence[Inference]) -> Iterator[OnRuntime]:
        """Add its cut and its errors to each case, if there are any."""
        from hexsim.reports.pages.command_pages import OnRuntime
        from hexsim.studies.cuts import LayerTimes, Prices, compiled_sections, survey
        from hexsim.studies.validation import examined

        for case in cases:
            study = cut = None
            deployment = self.given.deployment(case.runtime)
            if self.inputs is not None and case.runtime in FIXED_POINT:
                self.progress(f"comparing {case.runtime} with float")
                study = examined(deployment, self.inputs, case.perf_profile)
            if case.runtime == "aip":
                self.progress("explaining the cuts of aip")
                prices = Prices(LayerTimes(deployment, case.perf_profile))
                cut = survey(prices, compiled_sections(deployment))
            yield OnRuntime(case, study, cut)


@grouped
def overview(
    *,
    model: ModelArgument,
    hardware: Hardware,
    runtime: Annotated[
        str | None,
        typer.Option(
            "--runtime",
            help="One or more, comma separated; default: the first that the chip has of htp, dsp, "
            "gpu and cpu.",
            autocompletion=runtime_names,
        ),
    ] = None,
    power: Power,
    circumstances: Comparing,
    input_dim: InputDimOption = None,
    depth: OfPage,
    outputs: Html,
) -> None:
    """Show the answer on a model in one block, as `hexsim MODEL` does.

    It has the latency with its interval, the peak of memory, the engines, the layers that take most
    of the time, and the next step. --html also writes a page that needs no network: times,
    timeline, roofline, memory, errors and constants.
    """
    depth.require_one_kind()
    platform = power.of(hardware.platform())
    runtimes = parse_runtimes(runtime) or [preferred(platform.runtimes)]
    dims = parse_input_dims(input_dim)

    from hexsim.cli._progress import status
    from hexsim.reports.summary import overview as overview_text
    from hexsim.studies.benchmark import answered, run_benchmark

    examination = None
    with status() as progress:
        if outputs.html is None:
            depth.require_page()
        else:
            given = circumstances.given(model, platform, dims, progress)
            examination = Examination(given, depth.judging(given, runtimes), progress)
        others = depth.conditions(examination)
        conditions = circumstances.conditions(platform, power, input_dims=dims, **others)
        results = run_benchmark([model], platform, runtimes, conditions, progress)
        cases, refusals = answered(results)
        if examination is not None:
            page = examination.page(cases, refusals)
            outputs.write(html=lambda: page)
    refused = [f"{refusal.runtime}: {refusal.reason}" for refusal in refusals]
    say("\n\n".join((*map(overview_text, cases), *refused)))
