"""`hexsim info` lists the layers of a .dlc or ONNX file."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from hexsim.cli._files import CHIP
from hexsim.cli._options import (
    AUTO,
    RUNTIME,
    RUNTIME_OR_AUTO,
    InputDimsOption,
    InputValuesOption,
    ModelArgument,
    OutputNamesOption,
)
from hexsim.cli._output import JsonCsv
from hexsim.cli._say import say
from hexsim.cli._signature import Keywords, grouped, paged
from hexsim.cli._simulated import Shapes
from hexsim.records import dataclass
from hexsim.runtimes import Runtime, RuntimeChoice

EXAMPLES = {
    "info": (
        "hexsim info model.onnx",
        "hexsim info model.onnx --chip sd855",
        "hexsim info model.dlc --layout snpe",
    )
}


@dataclass(frozen=True)
class Timed(Keywords):
    """The chip and the runtime of the times."""

    HEADING = "Times"

    chip: Annotated[
        str | None,
        "Also show the time of each layer on the chip, and the cost of rescaling "
        "quantised weights for its DSP; with --memory, the chip to use.",
        CHIP,
    ] = None
    runtime: Annotated[RuntimeChoice, RUNTIME_OR_AUTO, f"The runtime of the times; {AUTO}."] = (
        "auto"
    )


@dataclass(frozen=True)
class Changed(Shapes):
    """What changes the network before it is read."""

    HEADING = "Network"

    input_dims: InputDimsOption = None
    input_values: InputValuesOption = None
    output_names: OutputNamesOption = ()


@dataclass(frozen=True)
class Listed(Changed):
    """What is listed besides layers."""

    memory: Annotated[
        Runtime | None,
        RUNTIME,
        typer.Option(
            metavar="RUNTIME",
            help="Also show the memory of an inference on this runtime, layer by layer.",
        ),
    ] = None
    imports: Annotated[bool, "Also show the layers made of an ONNX file's nodes, and why."] = False


@paged
@grouped
def info(
    *,
    model: ModelArgument,
    on: Timed,
    listed: Listed,
    layout: Annotated[
        Literal["compact", "snpe"], "compact, or snpe: as snpe-dlc-info, with encodings."
    ] = "compact",
    outputs: JsonCsv,
) -> None:
    """List the layers: shapes, runtimes, parameters, MACs, times on a chip.

    No weight is read, unless --chip is given.
    """
    from hexsim.api import info as api
    from hexsim.reports.info import info_text

    answer = api.info(model, **on.keywords(), **listed.keywords())
    outputs.write(answer)
    say(info_text(answer, layout=layout))
