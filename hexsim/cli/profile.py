"""`hexsim profile` shows the time of one inference, layer by layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import OUTPUT
from hexsim.cli._options import ModelArgument
from hexsim.cli._output import JsonCsvTraceHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import Circumstances, RuntimeOnChip
from hexsim.errors import HexsimError
from hexsim.records import dataclass

if TYPE_CHECKING:
    from hexsim.results.benchmark import Inference

EXAMPLES = {
    "profile": (
        "hexsim profile mobilenet_v2 --roofline --picture roofline.png",
        "hexsim profile model.dlc --chip sd855 --runtime aip",
        "hexsim profile model.onnx --html page.html",
    )
}


@dataclass(frozen=True)
class ProfileFiles(JsonCsvTraceHtml):
    """The files of a profile, with a picture of its roofline."""

    picture: Annotated[Path | None, "Draw the roofline: .png or .svg.", OUTPUT] = None

    def check(self) -> None:
        """Raise HexsimError if the picture cannot be made."""
        if self.picture is not None:
            from hexsim.reports.picture import load_matplotlib, picture_format

            picture_format(self.picture)
            load_matplotlib()

    def drawn(self, case: Inference) -> bytes:
        """Return the picture in the format of the file's name."""
        from hexsim.reports.picture import picture, picture_format

        if case.roofline is None:
            raise HexsimError(
                f"{case.network} has no layer that multiplies on the engine of {case.runtime}, so "
                "there is no roofline; give another --runtime"
            )
        assert self.picture is not None
        return picture(case, case.roofline, picture_format(self.picture))


@dataclass(frozen=True)
class Tables:
    """What is printed beside the times of the longest layers."""

    HEADING = "Tables"

    uncertainty: Annotated[
        bool, "Change assumed and calibrated constants one at a time, and list their effects."
    ] = False
    roofline: Annotated[
        bool,
        "Also set every layer under the roofs of the chip: multiply-adds per byte and per second.",
    ] = False
    every: Annotated[
        bool, typer.Option("--all", help="Show all layers, not sums by type and the ten longest.")
    ] = False


@paged
@grouped
def profile(
    *,
    model: ModelArgument,
    runs_on: RuntimeOnChip,
    circumstances: Circumstances,
    tables: Tables,
    outputs: ProfileFiles,
) -> None:
    """Profile one inference: cycles, time, MACs, bytes by memory level and bound of every layer."""
    outputs.check()
    from hexsim.api import profile as api
    from hexsim.reports.summary import profile_text
    from hexsim.reports.trace import benchmark_trace

    recorded = outputs.trace is not None or outputs.html is not None
    with TERMINAL.status():
        case = api.profile(
            model,
            uncertainty=tables.uncertainty,
            recorded=recorded,
            **runs_on.keywords(),
            **circumstances.keywords(),
        )
    outputs.write(case, trace=lambda: benchmark_trace([case]), picture=lambda: outputs.drawn(case))
    say(profile_text(case, roofs=tables.roofline, every=tables.every))
