"""`hexsim roofline` compares each layer with the limits of the chip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import OUTPUT
from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    CsvOption,
    InputDimOption,
    JsonOption,
    ModelArgument,
    OverrideParamsOption,
    ProfileOption,
    QuantizeOption,
    parse_input_dims,
)
from hexsim.cli._output import Outputs
from hexsim.cli._overrides import print_override_use
from hexsim.cli._page import paged
from hexsim.cli._say import say
from hexsim.cli._simulated import RuntimeOnChip

if TYPE_CHECKING:
    from hexsim.studies.roofline import Roofline


@dataclass(frozen=True)
class Charts(Outputs):
    """Files with the chart, and its points for programs and for spreadsheets."""

    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Draw the chart: a .png or .svg file."),
        OUTPUT,
    ] = None
    json: JsonOption = None
    csv: CsvOption = None

    def check(self) -> None:
        """Raise HexsimError if the chart cannot be drawn, or not in the format of the file."""
        if self.output is not None:
            from hexsim.reports.drawing import load_matplotlib
            from hexsim.reports.roofline.chart import picture_format

            picture_format(self.output)
            load_matplotlib()

    def drawn(self, chart: Roofline) -> bytes:
        """Return the picture in the format of the file's name."""
        from hexsim.reports.roofline.chart import picture, picture_format

        assert self.output is not None
        return picture(chart, picture_format(self.output))


@paged
@grouped
def roofline(
    *,
    model: ModelArgument,
    runs_on: RuntimeOnChip,
    perf_profile: ProfileOption = None,
    input_dim: InputDimOption = None,
    quantize: QuantizeOption = False,
    override_params: OverrideParamsOption = None,
    outputs: Charts,
) -> None:
    """Set every layer under the roofs of the chip: multiply-adds per byte and per second."""
    outputs.check()
    platform = runs_on.platform()

    from hexsim.cli._progress import status
    from hexsim.deployment.given import Preparation
    from hexsim.reports.roofline.table import point_facts, roofline_facts, roofline_table
    from hexsim.studies.benchmark import BenchmarkConditions, run_case
    from hexsim.studies.roofline import roofline

    conditions = BenchmarkConditions(
        perf_profile=perf_profile,
        accuracy=False,
        preparation=Preparation(quantize, override_params, faster_hta=True),
        input_dims=parse_input_dims(input_dim),
    )
    with status() as progress:
        case = run_case(model, platform, runs_on.asked(), conditions, progress)
    print_override_use(case.network, case.overrides)
    chart = roofline(case, platform)
    outputs.write(
        json=lambda: roofline_facts.json(chart),
        csv=lambda: point_facts.csv(chart.points),
        output=lambda: outputs.drawn(chart),
    )
    say(f"{case.network} on {case.chip} {case.runtime}, {case.software}, {case.perf_profile}\n")
    say(roofline_table(chart))
