"""`hexsim convert`: an ONNX file becomes a .dlc file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hexsim.cli._files import FILE, MODEL, Writes
from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    InputDimOption,
    InputValueOption,
    OutNameOption,
    parse_choices,
    parse_input_dims,
    parse_input_values,
)
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._say import remark, say
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hexsim.graph.input_format import InputEncoding, InputType
    from hexsim.graph.ir import Network
    from hexsim.quantization.overrides import Overrides

_MODEL_VERSION_BYTES = 64
"""Bytes of a model version that the real converter keeps."""


def _target(given: Mapping[str, Any]) -> Path | None:
    """The file that is written, unless the run is dry or the model no ONNX file."""
    from hexsim.container.loading import is_dlc

    if given["dry_run"] or is_dlc(given["model"]):
        return None
    return beside_model(given, f"{Path(given['model']).name.removesuffix('.onnx')}.dlc")


@dataclass(frozen=True)
class ConvertedFile(Outputs):
    """The .dlc file."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default: the model's name with .dlc."),
        Writes(_target),
    ] = None


@dataclass(frozen=True)
class Formats:
    """What the inputs hold."""

    input_type: Annotated[
        list[str] | None,
        typer.Option("--input-type", help="NAME image, default or opaque; repeatable."),
    ] = None
    input_encoding: Annotated[
        list[str] | None,
        typer.Option(
            "--input-encoding",
            help="NAME bgr, rgb, rgba, argb32, nv21, time_series or other; repeatable.",
        ),
    ] = None

    def types(self) -> dict[str, str]:
        """The type of each input that is named."""
        from hexsim.graph.input_format import INPUT_TYPES

        return parse_choices("--input-type", self.input_type, INPUT_TYPES)

    def encodings(self) -> dict[str, str]:
        """The colours of each input that is named."""
        from hexsim.graph.input_format import INPUT_ENCODINGS

        return parse_choices("--input-encoding", self.input_encoding, INPUT_ENCODINGS)


@dataclass(frozen=True)
class Kept:
    """What the file keeps besides the network."""

    quantization_overrides: Annotated[
        Path | None,
        typer.Option(
            "--quantization-overrides", help="Encodings in AIMET's JSON, kept for the quantiser."
        ),
        FILE,
    ] = None
    model_version: Annotated[
        str, typer.Option("--model-version", help="ASCII text kept in the file.")
    ] = "N/A"

    def version(self) -> str:
        """The version; raise HexsimError if it cannot be kept whole."""
        if not self.model_version.isascii() or len(self.model_version) > _MODEL_VERSION_BYTES:
            raise HexsimError(
                f"--model-version must be at most {_MODEL_VERSION_BYTES} ASCII characters"
            )
        return self.model_version

    def overrides(self) -> Overrides:
        """Read the overrides."""
        from hexsim.quantization.overrides import NO_OVERRIDES
        from hexsim.quantization.overrides.aimet import read_aimet

        path = self.quantization_overrides
        return NO_OVERRIDES if path is None else read_aimet(path)


@grouped
def convert(
    *,
    model: Annotated[str, typer.Argument(help="ONNX file or built-in network."), MODEL],
    outputs: ConvertedFile,
    input_dim: InputDimOption = None,
    input_value: InputValueOption = None,
    out_name: OutNameOption = None,
    formats: Formats,
    kept: Kept,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Write nothing; list the layers that fall back and why."),
    ] = False,
) -> None:
    """Convert an ONNX file to a float .dlc file."""
    from hexsim import __version__, container
    from hexsim.container.loading import is_dlc, load_container
    from hexsim.passes.input_formats import set_input_formats
    from hexsim.quantization.model import Model, require_float
    from hexsim.reports.fallback_table import fallback_table

    if is_dlc(model):
        raise HexsimError(f"'{model}' is a .dlc file already; give an ONNX file")
    version, dims = kept.version(), parse_input_dims(input_dim)
    types, encodings = formats.types(), formats.encodings()
    values = parse_input_values(input_value)
    source = load_container(
        model,
        input_dims=dims,
        input_values=values,
        output_names=out_name or (),
        overrides=kept.overrides(),
    )
    network = set_input_formats(
        require_float(source.model),
        cast("Mapping[str, InputType]", types),
        cast("Mapping[str, InputEncoding]", encodings),
    )
    if dry_run:
        say(fallback_table(network))
        return
    shapes = {name: ",".join(map(str, shape)) for name, shape in dims.items()}
    command = _command(
        input_dim=_pairs(shapes),
        input_encoding=_pairs(encodings),
        input_network=Path(model).name,
        input_type=_pairs(types),
        model_version=version,
        quantization_overrides=kept.quantization_overrides and kept.quantization_overrides.name,
        **_if_given(values, out_name),
    )
    metadata = container.Metadata(
        model_version=version, converter_command=command, converter_version=__version__
    )
    target = outputs.output
    assert target is not None
    container.write(target, Model(network), metadata, source.overrides)
    _log(network, source.overrides, target, source.imports.notes if source.imports else ())


def _command(**words: object) -> str:
    """The command as the file's metadata tell it."""
    return "hexsim convert " + " ".join(f"{key}={value}" for key, value in words.items())


def _if_given(values: Mapping[str, float], ends: Sequence[str] | None) -> dict[str, str | None]:
    """What the command tells only if it was asked for."""
    given = {"input_value": _pairs({n: f"{v:g}" for n, v in values.items()})} if values else {}
    return given | ({"out_name": " ".join(ends)} if ends else {})


def _pairs(values: Mapping[str, str]) -> str | None:
    return " ".join(f"{name} {value}" for name, value in values.items()) or None


def _log(network: Network, overrides: Overrides, target: Path, notes: Sequence[str]) -> None:
    from hexsim.reports.fallback_table import opaque_lines

    for note in notes:
        remark(f"INFO - {note}")
    for line in opaque_lines(network):
        remark(f"WARNING - {line}")
    if overrides:
        remark(f"INFO - Kept {len(overrides)} quantization overrides")
    remark(f"INFO - INFO_DLC_SAVE_LOCATION: Saving model at {target}")
    remark("INFO - INFO_CONVERSION_SUCCESS: Conversion completed successfully")
