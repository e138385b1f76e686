"""`hexsim calibrate` fits constants of a chip or a stack to rows measured on the user's phone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from hexsim.cli._files import OUTPUT, ROWS
from hexsim.cli._options import ChipOption, StackOption
from hexsim.cli._output import Json
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.errors import HexsimError
from hexsim.records import dataclass

Adjust = Literal["stack", "chip", "both"]


@dataclass(frozen=True)
class CalibrationFiles(Json):
    """The files that hold the fitted constants."""

    output: Annotated[Path | None, "TOML file of the stack, or the chip, to write.", OUTPUT] = None
    chip_output: Annotated[Path | None, "With --adjust both: that of the chip.", OUTPUT] = None

    def check(self, adjust: Adjust) -> None:
        """Raise HexsimError unless the files fit to `adjust`."""
        if self.output is None:
            raise HexsimError("give the file to write with --output")
        if adjust == "both" and self.chip_output is None:
            raise HexsimError("--adjust both makes two files; name the chip's with --chip-output")
        if adjust != "both" and self.chip_output is not None:
            raise HexsimError("--chip-output is for --adjust both; the one file is --output's")
        for file in (self.output, self.chip_output):
            if file is not None and file.suffix != ".toml":
                raise HexsimError(f"'{file}' must end in .toml, by which commands know such a file")


@paged
@grouped
def calibrate(
    *,
    rows: Annotated[
        Path | None, typer.Argument(help="CSV file in the format of measured_latency.csv."), ROWS
    ] = None,
    chip: ChipOption,
    stack: StackOption = None,
    adjust: Annotated[Adjust, "Which constants the rows may change."] = "stack",
    layers: Annotated[
        Path | None, "CSV file of layers in the format of layer_latency.csv.", ROWS
    ] = None,
    outputs: CalibrationFiles,
) -> None:
    """Fit a stack or a chip to latencies measured on your phone, from what is published."""
    from hexsim.api import calibrate as api

    outputs.check(adjust)
    with TERMINAL.status():
        answer = api.calibrate(rows, chip, stack, adjust=adjust, layers=layers)
    outputs.write(
        answer,
        output=lambda: answer.chip_toml if adjust == "chip" else answer.stack_toml,
        chip_output=lambda: answer.chip_toml,
    )
    say(str(answer))
    say(f"\nUse it: {_use(adjust, outputs, chip, stack)}")


def _use(adjust: Adjust, outputs: CalibrationFiles, chip: str, stack: str | None) -> str:
    """Return the options with which other commands use the files."""
    if adjust == "both":
        return f"--chip {outputs.chip_output} --stack {outputs.output}"
    if adjust == "chip":
        return f"--chip {outputs.output}" + (f" --stack {stack}" if stack else "")
    return f"--chip {chip} --stack {outputs.output}"
