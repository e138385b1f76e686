"""`hexsim info` lists the layers of a .dlc or ONNX file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from hexsim.cli._files import CHIP
from hexsim.cli._options import (
    AUTO,
    InputDimOption,
    InputValueOption,
    ModelArgument,
    OutNameOption,
    parse_choice,
    parse_input_dims,
    parse_input_values,
    parse_runtime,
    runtime_names,
)
from hexsim.cli._output import JsonCsv
from hexsim.cli._say import is_logged, say
from hexsim.cli._signature import grouped, paged

EXAMPLES = {
    "info": (
        "hexsim info model.onnx",
        "hexsim info model.onnx --chip sd855",
        "hexsim info model.dlc --layout snpe",
    ),
}


@dataclass(frozen=True)
class Timed:
    """The chip and the runtime of the times."""

    HEADING = "Times"

    chip: Annotated[
        str | None,
        typer.Option(
            "--chip",
            help="Also show the time of each layer on the chip, and the cost of rescaling "
            "quantised weights for its DSP; with --memory, the chip to use.",
        ),
        CHIP,
    ] = None
    runtime: Annotated[
        str,
        typer.Option(
            "--runtime",
            help=f"The runtime of the times; {AUTO}.",
            autocompletion=runtime_names,
        ),
    ] = "auto"


@dataclass(frozen=True)
class Shape:
    """What changes the network before it is listed."""

    HEADING = "Network"

    input_dim: InputDimOption = None
    input_value: InputValueOption = None
    out_name: OutNameOption = None


@paged
@grouped
def info(
    *,
    model: ModelArgument,
    on: Timed,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="RUNTIME",
            help="Also show the memory of an inference on this runtime, layer by layer.",
        ),
    ] = None,
    imports: Annotated[
        bool,
        typer.Option(
            "--imports", help="Also show the layers made of an ONNX file's nodes, and why."
        ),
    ] = False,
    shape: Shape,
    layout: Annotated[
        Literal["compact", "snpe"],
        typer.Option("--layout", help="compact, or snpe: as snpe-dlc-info, with encodings."),
    ] = "compact",
    outputs: JsonCsv,
) -> None:
    """List the layers: shapes, runtimes, parameters, MACs, times on a chip.

    No weight is read, unless --chip is given.
    """
    from hexsim.api import info as api
    from hexsim.reports.info import info_text

    answer = api.info(
        model,
        on.chip,
        parse_choice(on.runtime),
        memory=None if memory is None else parse_runtime(memory),
        imports=imports,
        input_dims=parse_input_dims(shape.input_dim),
        input_values=parse_input_values(shape.input_value),
        output_names=shape.out_name or (),
    )
    outputs.write(answer)
    say(info_text(answer, layout="snpe" if is_logged() else layout))
