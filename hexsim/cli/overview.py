"""`hexsim MODEL` or `hexsim overview MODEL` answers on a model, in one block or as a page."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from hexsim.cli._inputs import JudgingInputs
from hexsim.cli._options import AUTO, ModelArgument, parse_runtimes, runtime_names
from hexsim.cli._output import JsonHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import Reads, grouped
from hexsim.cli._simulated import Circumstances, Hardware
from hexsim.errors import HexsimError
from hexsim.records import dataclass
from hexsim.runtimes import Runtime

EXAMPLES = {
    "overview": (
        "hexsim mobilenet_v2 --chip sd855",
        "hexsim model.onnx --chip sd8gen2",
        "hexsim model.onnx --chip sd855 --runtime dsp,aip --html page.html",
    )
}


@dataclass(frozen=True)
class OfPage(JudgingInputs):
    """The inputs to compare values on, and parts of the page to leave out."""

    timing_only: Annotated[bool, "Leave values and accuracy out of the page."] = False
    uncertainty: Annotated[
        bool, typer.Option(" /--no-uncertainty", help="Leave intervals and constants out of it.")
    ] = True

    def require_page(self) -> None:
        """Raise HexsimError if one of these options is given."""
        if self != OfPage():
            raise HexsimError(
                "inputs, --timing-only and --no-uncertainty are for the page; give its name with "
                "--html"
            )


def _runtimes(text: str) -> list[Runtime] | Literal["auto"]:
    return "auto" if text == "auto" else parse_runtimes(text) or "auto"


@grouped
def overview(
    *,
    model: ModelArgument,
    hardware: Hardware,
    runtime: Annotated[
        list[Runtime] | Literal["auto"],
        Reads(str, _runtimes, runtime_names),
        f"One or more, comma separated; {AUTO}.",
    ] = "auto",
    circumstances: Circumstances,
    depth: OfPage,
    outputs: JsonHtml,
) -> None:
    """Show the answer on a model in one block, as `hexsim MODEL` does.

    It has the latency with its interval, the peak of memory, the engines, the layers that take most
    of the time, and the next step. --html also writes a page that needs no network: times,
    timeline, roofline, memory, errors and constants.
    """
    brief = outputs.html is None and outputs.json is None
    if brief:
        depth.require_page()
    from hexsim.api import overview as api

    with TERMINAL.status():
        answer = api.overview(
            model,
            runtime=runtime,
            brief=brief,
            **hardware.keywords(),
            **circumstances.keywords(),
            **depth.keywords(),
        )
        outputs.write(answer)
    say(str(answer))
