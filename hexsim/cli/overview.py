"""`hexsim MODEL` or `hexsim overview MODEL` answers on a model, in one block or as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from hexsim.cli._inputs import JudgingInputs
from hexsim.cli._options import (
    AUTO,
    InputDimOption,
    ModelArgument,
    parse_input_dims,
    parse_runtimes,
    runtime_names,
)
from hexsim.cli._output import JsonHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped
from hexsim.cli._simulated import CallOptions, Hardware, Power
from hexsim.errors import HexsimError, spelled

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


@grouped
def overview(
    *,
    model: ModelArgument,
    hardware: Hardware,
    runtime: Annotated[
        str,
        typer.Option(
            "--runtime",
            help=f"One or more, comma separated; {AUTO}.",
            autocompletion=runtime_names,
        ),
    ] = "auto",
    power: Power,
    circumstances: CallOptions,
    input_dim: InputDimOption = None,
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

    how: api.Examining = {
        **hardware.settings(),
        **power.settings(),
        **circumstances.settings(),
        **depth.judging(),
        "input_dims": parse_input_dims(input_dim),
        "timing_only": depth.timing_only,
        "uncertainty": not depth.no_uncertainty,
        "brief": brief,
    }
    with TERMINAL.status():
        runtimes = None if runtime == "auto" else parse_runtimes(runtime)
        answer = api.overview(model, hardware.chip, runtimes or "auto", **how)
        outputs.write(answer)
    say(str(answer))
