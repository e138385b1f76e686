"""`hexsim info`: what is in a .dlc or ONNX file, layer by layer."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._options import CsvOption, InputDimOption, JsonOption, parse_input_dims


def info(
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    input_dim: InputDimOption = None,
    json: JsonOption = None,
    csv: CsvOption = None,
) -> None:
    """List the layers: shapes, runtimes, parameters, MACs, encodings; no weight is read."""
    from hexsim.files import write_text
    from hexsim.loading import load_container
    from hexsim.reports.info_csv import info_csv
    from hexsim.reports.info_json import info_json
    from hexsim.reports.info_table import info_table

    read = load_container(model, input_dims=parse_input_dims(input_dim))
    if json is not None:
        write_text(json, info_json(model, read))
    if csv is not None:
        write_text(csv, info_csv(read))
    typer.echo(info_table(model, read))
