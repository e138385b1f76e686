"""`hexsim info` lists the layers of a .dlc or ONNX file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hexsim.cli._files import CHIP
from hexsim.cli._options import (
    InputDimOption,
    InputValueOption,
    ModelArgument,
    OutNameOption,
    parse_input_dims,
    parse_input_values,
    parse_runtime,
    runtime_names,
)
from hexsim.cli._output import JsonCsv
from hexsim.cli._overrides import print_findings
from hexsim.cli._say import is_logged, say
from hexsim.cli._signature import grouped, paged
from hexsim.errors import HexsimError, spelled

if TYPE_CHECKING:
    from hexsim.dlc import Container
    from hexsim.runtimes import Runtime

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
        str | None,
        typer.Option(
            "--runtime",
            help="The runtime of the times; default: the first that the chip has of htp, dsp, gpu "
            "and cpu.",
            autocompletion=runtime_names,
        ),
    ] = None

    def parsed_runtime(self) -> Runtime | None:
        """Read the name of the runtime; None stands for the chip's first."""
        if self.runtime is None:
            return None
        if self.chip is None:
            raise HexsimError(
                f"{spelled('runtime')} is for the times on a chip; give {spelled('chip')} too"
            )
        return parse_runtime(self.runtime)


@dataclass(frozen=True)
class Shape:
    """What changes the network before it is listed."""

    HEADING = "Network"

    input_dim: InputDimOption = None
    input_value: InputValueOption = None
    out_name: OutNameOption = None

    def read(self, model: str) -> Container:
        """Load the model."""
        from hexsim.dlc.loading import load_container

        return load_container(
            model,
            input_dims=parse_input_dims(self.input_dim),
            input_values=parse_input_values(self.input_value),
            output_names=self.out_name or (),
        )


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
    runtime = on.parsed_runtime()
    from hexsim.reports.info import info_csv, info_text
    from hexsim.studies.model_info import answered

    read = shape.read(model)
    target = None if memory is None else parse_runtime(memory)
    answer = answered(read, model, on.chip, runtime, target, imports=imports)
    print_findings((answer.network, answer.findings))
    outputs.write(json=answer.to_json, csv=lambda: info_csv(answer))
    say(info_text(answer, layout="snpe" if is_logged() else layout))
