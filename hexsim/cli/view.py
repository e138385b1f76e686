"""`hexsim view` writes a page for a browser about a .dlc or ONNX file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hexsim.cli._files import Writes
from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    InputDimOption,
    InputValueOption,
    ModelArgument,
    OutNameOption,
    parse_input_dims,
    parse_input_values,
)
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._say import say


def _target(given: Mapping[str, Any]) -> Path:
    return beside_model(given, f"{Path(given['model']).name}.html")


@dataclass(frozen=True)
class ViewPage(Outputs):
    """The page."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default: the model's name and .html."),
        Writes(_target),
    ] = None


@grouped
def view(
    *,
    model: ModelArgument,
    input_dim: InputDimOption = None,
    input_value: InputValueOption = None,
    out_name: OutNameOption = None,
    outputs: ViewPage,
) -> None:
    """Write an HTML page: the drawing, and each layer's attributes, encodings and weights.

    It is one file that needs no network and names no folder. Weights are read and counted.
    """
    from hexsim.cli._progress import status
    from hexsim.dlc.loading import load_container
    from hexsim.reports.pages import network_page

    dims, values = parse_input_dims(input_dim), parse_input_values(input_value)
    read = load_container(model, input_dims=dims, input_values=values, output_names=out_name or ())
    with status() as progress:
        progress(f"counting the weights of {read.model.name}")
        outputs.write(output=lambda: network_page(Path(model).name, read))
    say(f"wrote {outputs.output}")
