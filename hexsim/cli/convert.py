"""`hexsim convert`: an ONNX file becomes a .dlc file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from hexsim.cli._options import InputDimOption, parse_choices, parse_input_dims
from hexsim.cli._output import output_path, require_outputs
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hexsim.graph.input_format import InputEncoding, InputType

_MODEL_VERSION_BYTES = 64
"""Bytes of a model version that the real converter keeps."""


def convert(
    model: Annotated[str, typer.Argument(help="ONNX file or built-in network.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default: the model's name with .dlc."),
    ] = None,
    input_dim: InputDimOption = None,
    input_type: Annotated[
        list[str] | None,
        typer.Option("--input-type", help="NAME image, default or opaque; repeatable."),
    ] = None,
    input_encoding: Annotated[
        list[str] | None,
        typer.Option(
            "--input-encoding",
            help="NAME bgr, rgb, rgba, argb32, nv21, time_series or other; repeatable.",
        ),
    ] = None,
    quantization_overrides: Annotated[
        Path | None,
        typer.Option(
            "--quantization-overrides", help="Encodings in AIMET's JSON, kept for the quantiser."
        ),
    ] = None,
    model_version: Annotated[
        str, typer.Option("--model-version", help="ASCII text kept in the file.")
    ] = "N/A",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Write nothing; list the layers that fall back and why."),
    ] = False,
) -> None:
    """Convert an ONNX file to a float .dlc file."""
    from hexsim import __version__, container
    from hexsim.container.loading import is_dlc, load_container
    from hexsim.graph.input_format import INPUT_ENCODINGS, INPUT_TYPES
    from hexsim.passes.input_formats import set_input_formats
    from hexsim.quantization.overrides import NO_OVERRIDES
    from hexsim.quantization.overrides.aimet import read_aimet
    from hexsim.quantization.quantized import require_float
    from hexsim.reports.fallback_table import fallback_table, opaque_lines

    if is_dlc(model):
        raise HexsimError(f"'{model}' is a .dlc file already; give an ONNX file")
    if not model_version.isascii() or len(model_version) > _MODEL_VERSION_BYTES:
        raise HexsimError(
            f"--model-version must be at most {_MODEL_VERSION_BYTES} ASCII characters"
        )
    dims = parse_input_dims(input_dim)
    target = output_path(model, output, f"{Path(model).name.removesuffix('.onnx')}.dlc")
    require_outputs((None if dry_run else target,), (model, quantization_overrides))
    types = parse_choices("--input-type", input_type, INPUT_TYPES)
    encodings = parse_choices("--input-encoding", input_encoding, INPUT_ENCODINGS)
    given = NO_OVERRIDES if quantization_overrides is None else read_aimet(quantization_overrides)
    source = load_container(model, input_dims=dims, overrides=given)
    network = set_input_formats(
        require_float(source.model),
        cast("Mapping[str, InputType]", types),
        cast("Mapping[str, InputEncoding]", encodings),
    )
    if dry_run:
        typer.echo(fallback_table(network))
        return
    shapes = {name: ",".join(map(str, shape)) for name, shape in dims.items()}
    options = {
        "input_encoding": _pairs(encodings),
        "input_dim": _pairs(shapes),
        "input_type": _pairs(types),
        "input_network": model,
        "model_version": model_version,
        "quantization_overrides": quantization_overrides,
    }
    command = " ".join(f"{key}={value}" for key, value in sorted(options.items()))
    metadata = container.Metadata(
        model_version=model_version,
        converter_command=f"hexsim convert {command}",
        converter_version=__version__,
    )
    container.write(target, network, metadata, source.overrides)
    for line in opaque_lines(network):
        print(f"WARNING - {line}", file=sys.stderr)
    if source.overrides:
        print(f"INFO - Kept {len(source.overrides)} quantization overrides", file=sys.stderr)
    print(f"INFO - INFO_DLC_SAVE_LOCATION: Saving model at {target}", file=sys.stderr)
    print("INFO - INFO_CONVERSION_SUCCESS: Conversion completed successfully", file=sys.stderr)


def _pairs(values: dict[str, str]) -> str | None:
    return " ".join(f"{name} {value}" for name, value in values.items()) or None
