"""`hexsim profile` shows the time of one inference, layer by layer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import OUTPUT
from hexsim.cli._options import InputDimOption, ModelArgument, parse_input_dims
from hexsim.cli._output import JsonCsvTraceHtml
from hexsim.cli._overrides import print_findings, print_override_use
from hexsim.cli._say import command_line, say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import CallOptions, Power, RuntimeOnChip
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.results.benchmark import Inference

EXAMPLES = {
    "profile": (
        "hexsim profile mobilenet_v2 --roofline --picture roofline.png",
        "hexsim profile model.dlc --chip sd855 --runtime aip",
        "hexsim profile model.onnx --quantize --html page.html",
    ),
}


@dataclass(frozen=True)
class ProfileFiles(JsonCsvTraceHtml):
    """The files of a profile, with a picture of its roofline."""

    picture: Annotated[
        Path | None,
        typer.Option("--picture", help="Draw the roofline: .png or .svg."),
        OUTPUT,
    ] = None

    def check(self) -> None:
        """Raise HexsimError if the picture cannot be made."""
        if self.picture is not None:
            from hexsim.reports.roofline import load_matplotlib, picture_format

            picture_format(self.picture)
            load_matplotlib()

    def drawn(self, case: Inference) -> bytes:
        """Return the picture in the format of the file's name."""
        from hexsim.reports.roofline import picture, picture_format

        if case.roofline is None:
            raise HexsimError(
                f"{case.network} has no layer that multiplies on the engine of {case.runtime}, so "
                "there is no roofline; give another --runtime"
            )
        assert self.picture is not None
        return picture(case, case.roofline, picture_format(self.picture))


@dataclass(frozen=True)
class Tables:
    """What is printed beside the times of all layers, or instead of them."""

    HEADING = "Tables"

    uncertainty: Annotated[
        bool,
        typer.Option(
            "--uncertainty",
            help="Change assumed and calibrated constants one at a time, and list their effects.",
        ),
    ] = False
    roofline: Annotated[
        bool,
        typer.Option(
            "--roofline",
            help="Also set every layer under the roofs of the chip: multiply-adds per byte and "
            "per second.",
        ),
    ] = False
    longest: Annotated[
        bool,
        typer.Option("--longest", help="Show sums by type and the ten longest layers, not all."),
    ] = False


@paged
@grouped
def profile(
    *,
    model: ModelArgument,
    runs_on: RuntimeOnChip,
    power: Power,
    circumstances: CallOptions,
    input_dim: InputDimOption = None,
    tables: Tables,
    outputs: ProfileFiles,
) -> None:
    """Profile one inference: cycles, time, MACs, bytes by memory level and bound of every layer."""
    outputs.check()
    platform = power.of(runs_on.platform())

    from hexsim.cli._progress import status
    from hexsim.reports.inference import profile_csv
    from hexsim.reports.trace import benchmark_trace
    from hexsim.studies.benchmark import run_case

    conditions = circumstances.conditions(
        platform,
        power,
        sweep="everything" if tables.uncertainty else None,
        accuracy=False,
        input_dims=parse_input_dims(input_dim),
        recorded=outputs.trace is not None or outputs.html is not None,
        roofs=True,
    )
    with status() as progress:
        case = run_case(model, platform, runs_on.parsed_runtime(), conditions, progress)
    print_override_use(case.network, case.overrides)
    print_findings((case.network, case.findings))

    def html() -> str:
        from hexsim.reports.pages.command_pages import profile_page

        return profile_page(case, command_line())

    outputs.write(
        json=case.to_json,
        csv=lambda: profile_csv(case),
        trace=lambda: benchmark_trace([case]),
        html=html,
        picture=lambda: outputs.drawn(case),
    )
    _show(case, tables)


def _show(case: Inference, tables: Tables) -> None:
    from hexsim.reports.inference import (
        background_tables,
        profile_table,
        slowdown_table,
        uncertainty_table,
    )
    from hexsim.reports.summary import processor_lines, summary

    say(
        f"{case.network} on {case.chip} {case.runtime}, {case.software}, {case.perf_profile}, "
        f"{case.buffer} buffers\n"
    )
    say("\n".join((summary(case), *processor_lines(case), "")))
    say(profile_table(case, every=not tables.longest))
    if case.graph_note is not None:
        say(f"\n{case.graph_note}")
    if case.background is not None:
        say(f"\n{background_tables([case])}\n\n{slowdown_table(case.background)}")
    if case.uncertainty is not None:
        say("\n" + uncertainty_table(case))
    if tables.roofline and case.roofline is not None:
        from hexsim.reports.roofline import roofline_table

        say("\n" + roofline_table(case.roofline))
