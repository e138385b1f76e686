"""`hexsim convert` converts a file of ONNX or another framework to a .dlc file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hexsim.cli._files import FILE, MODEL, Writes
from hexsim.cli._inputs import Appearance
from hexsim.cli._options import (
    InputValuesOption,
    OutputNamesOption,
    parse_choices,
)
from hexsim.cli._output import Outputs, beside_model
from hexsim.cli._say import is_logged, log, say
from hexsim.cli._signature import Reads, grouped
from hexsim.cli._simulated import Shapes
from hexsim.errors import HexsimError, spelled
from hexsim.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hexsim.dlc import Container
    from hexsim.graph.ir import Network
    from hexsim.graph.network_ends import InputEncoding, InputType
    from hexsim.quantization.model import Model
    from hexsim.quantization.overrides import Overrides

_MODEL_VERSION_BYTES = 64
"""Bytes of a model version that the real converter keeps."""

_ENDINGS = (".onnx", ".prototxt", ".tflite", ".pb", ".meta", ".keras", ".h5", ".pt2", ".pt")
"""Endings of files that are converted."""

EXAMPLES = {"convert": ("hexsim convert model.onnx --output model.dlc",)}


def _target(values: Mapping[str, Any]) -> Path | None:
    """Return the file to write; None for a dry run, or if the model is a .dlc file already."""
    from hexsim.dlc.loading import is_dlc

    if values["dry_run"] or is_dlc(values["model"]):
        return None
    return beside_model(values, f"{_bare(Path(values['model']).name)}.dlc")


def _bare(name: str) -> str:
    """Return the name of a model without the ending of its file, if it has one."""
    ending = next((known for known in _ENDINGS if name.lower().endswith(known)), "")
    return name[: len(name) - len(ending)]


@dataclass(frozen=True)
class ConvertedFile(Outputs):
    """The .dlc file."""

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default: the model's name with .dlc."),
        Writes(_target),
    ] = None


def _types(texts: list[str] | None) -> dict[str, str]:
    from hexsim.graph.network_ends import INPUT_TYPES

    return parse_choices(spelled("input_type"), texts, INPUT_TYPES)


def _encodings(texts: list[str] | None) -> dict[str, str]:
    from hexsim.graph.network_ends import INPUT_ENCODINGS

    return parse_choices(spelled("input_encoding"), texts, INPUT_ENCODINGS)


def _symbols(texts: list[str] | None) -> dict[str, int]:
    sizes = {}
    for text in texts or ():
        name, _, size = text.strip().rpartition(" ")
        if not name or not (size.isascii() and size.isdecimal()) or len(size) > 9:
            raise HexsimError(f"{spelled('define_symbol')} '{text}' is not of the form 'NAME 1'")
        sizes[name.strip()] = int(size)
    return sizes


@dataclass(frozen=True)
class Formats:
    """The types and colour formats of the inputs."""

    input_type: Annotated[
        Mapping[str, str] | None,
        Reads(list[str] | None, _types),
        typer.Option(help="NAME image, default or opaque; repeatable."),
    ] = None
    input_encoding: Annotated[
        Mapping[str, str] | None,
        Reads(list[str] | None, _encodings),
        typer.Option(help="NAME bgr, rgb, rgba, argb32, nv21, time_series or other; repeatable."),
    ] = None


@dataclass(frozen=True)
class PreservedParts:
    """The data that the file stores besides the network."""

    quantization_overrides: Annotated[
        Path | None, typer.Option(help="Encodings in AIMET's JSON, kept for the quantiser."), FILE
    ] = None
    model_version: Annotated[str, typer.Option(help="ASCII text kept in the file.")] = "N/A"
    float_bitwidth: Annotated[
        int, typer.Option(help="Bits of all numbers in the file: 32 or 16.")
    ] = 32

    def version(self) -> str:
        """Return the version; raise HexsimError if it cannot be stored completely."""
        if not self.model_version.isascii() or len(self.model_version) > _MODEL_VERSION_BYTES:
            raise HexsimError(
                f"{spelled('model_version')} must be at most {_MODEL_VERSION_BYTES} ASCII "
                "characters"
            )
        return self.model_version

    def model(self, network: Network, overrides: Overrides) -> Model:
        """Return the model of `network` that the file holds, with floats of this width."""
        from hexsim.quantization.model import Model
        from hexsim.quantization.overrides.floats import all_in_floats
        from hexsim.quantization.quantizer import quantize

        if self.float_bitwidth not in (16, 32):
            raise HexsimError(f"{spelled('float_bitwidth')} is 16 or 32, not {self.float_bitwidth}")
        if self.float_bitwidth == 32:
            return Model(network)
        if overrides:
            raise HexsimError(
                f"{spelled('float_bitwidth', 16)} makes all tensors float, so the encodings that "
                f"are kept for the quantiser ({len(overrides)}) cannot be applied; leave it out"
            )
        return quantize(network, None, overrides=all_in_floats(network, 16))

    def overrides(self) -> Overrides:
        """Read the overrides."""
        from hexsim.quantization.overrides import NO_OVERRIDES
        from hexsim.quantization.overrides.aimet import read_aimet

        path = self.quantization_overrides
        return NO_OVERRIDES if path is None else read_aimet(path)


@dataclass(frozen=True)
class Reading(Shapes):
    """Options to read the file."""

    define_symbol: Annotated[
        Mapping[str, int] | None,
        Reads(list[str] | None, _symbols),
        typer.Option(
            help="NAME 1: size that a name in the shapes of an ONNX file's inputs stands for; "
            "repeatable."
        ),
    ] = None
    input_values: InputValuesOption = None
    output_names: OutputNamesOption = ()
    caffe_bin: Annotated[
        Path | None,
        typer.Option(help="Weights of a prototxt; default: the .caffemodel of its name."),
        FILE,
    ] = None
    keep_batch_norm: Annotated[
        bool,
        typer.Option("--keep-batch-norm", help="Fold no batch norm into the layer before it."),
    ] = False

    def read(self, model: str, overrides: Overrides) -> Container:
        """Read `model`, whose shapes are given whole or by the symbols in them."""
        from hexsim.dlc.loading import load_container

        given = self.keywords()
        if symbols := given.pop("define_symbol"):
            from hexsim.onnx_io.file.source import open_source
            from hexsim.onnx_io.read.input_shapes import shapes_of_symbols

            of_symbols = shapes_of_symbols(open_source(model), symbols)
            given["input_dims"] = {**of_symbols, **given["input_dims"]}
        return load_container(model, overrides=overrides, **given)

    def dims(self) -> str | None:
        """Return the shapes in the words of the command for the file's metadata."""
        shapes = (self.input_dims or {}).items()
        return _pairs({name: ",".join(map(str, shape)) for name, shape in shapes})

    def if_given(self) -> dict[str, str | None]:
        """Return the words of options that the metadata contain only if they were given."""
        given = {
            "define_symbol": _pairs(self.define_symbol),
            "input_value": _pairs(
                {name: f"{value:g}" for name, value in (self.input_values or {}).items()}
            ),
            "out_name": " ".join(self.output_names),
            "caffe_bin": self.caffe_bin and self.caffe_bin.name,
            "keep_batch_norm": "True" if self.keep_batch_norm else None,
        }
        return {word: text for word, text in given.items() if text}


@grouped
def convert(
    *,
    model: Annotated[
        str, typer.Argument(help="File of ONNX or another framework, or built-in network."), MODEL
    ],
    outputs: ConvertedFile,
    reading: Reading,
    formats: Formats,
    preserved: PreservedParts,
    appearance: Appearance,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Write nothing; list the layers that fall back and why."),
    ] = False,
) -> None:
    """Convert a file of ONNX or another framework to a float .dlc file.

    With --float-bitwidth 16 its numbers have 16 bits: for htp_fp16, GPU and CPU.
    """
    from hexsim import __version__, dlc
    from hexsim.dlc.loading import is_dlc
    from hexsim.passes.network_inputs import set_input_formats
    from hexsim.quantization.model import require_float
    from hexsim.reports.info import fallback_table

    started = perf_counter()
    if is_dlc(model):
        raise HexsimError(f"'{model}' is a .dlc file already; give an ONNX file")
    version = preserved.version()
    source = reading.read(model, preserved.overrides())
    network = set_input_formats(
        require_float(source.model),
        cast("Mapping[str, InputType]", formats.input_type),
        cast("Mapping[str, InputEncoding]", formats.input_encoding),
    )
    network = _with_pictures(network, appearance)
    if dry_run:
        say(fallback_table(network))
        return
    command = _command(
        input_dim=reading.dims(),
        input_encoding=_pairs(formats.input_encoding),
        input_network=Path(model).name,
        input_type=_pairs(formats.input_type),
        model_version=version,
        quantization_overrides=preserved.quantization_overrides
        and preserved.quantization_overrides.name,
        **reading.if_given(),
        **({"float_bitwidth": 16} if preserved.float_bitwidth == 16 else {}),
    )
    metadata = dlc.Metadata(
        model_version=version, converter_command=command, converter_version=__version__
    )
    target = outputs.output
    assert target is not None
    dlc.write(target, preserved.model(network, source.overrides), metadata, source.overrides)
    notes = source.imports.notes if source.imports else ()
    if preserved.quantization_overrides is not None:
        notes = (*notes, "Processing user provided quantization encodings:")
    _log(network, source.overrides, target, notes, started)


def _with_pictures(network: Network, appearance: Appearance) -> Network:
    """Return the network with the steps from pictures to its input, if any are asked for."""
    from hexsim.inputs.pictures import frame_of
    from hexsim.passes.network_inputs import set_pictures

    if not appearance.has_steps:
        return network
    how = appearance.preprocessing()
    frame_of(network, how)
    return set_pictures(network, how)


def _command(**words: object) -> str:
    """Return the command in the form of the file's metadata."""
    return "hexsim convert " + " ".join(f"{key}={value}" for key, value in words.items())


def _pairs(values: Mapping[str, object] | None) -> str | None:
    return " ".join(f"{name} {value}" for name, value in (values or {}).items()) or None


def _log(
    network: Network, overrides: Overrides, target: Path, notes: Sequence[str], started: float
) -> None:
    from hexsim.reports.info import opaque_lines
    from hexsim.reports.text import number

    for note in notes:
        log("INFO", note)
    for line in opaque_lines(network):
        log("WARNING", line)
    if overrides:
        log("INFO", f"Kept {len(overrides)} quantization overrides")
    if is_logged():  # under the name of SNPE's tool
        log("INFO", f"INFO_DLC_SAVE_LOCATION: Saving model at {target}")
        log("INFO", "INFO_CONVERSION_SUCCESS: Conversion completed successfully")
    else:
        size = f"{network.total_macs:,} MACs, {network.total_parameters:,} parameters"
        layers = number(len(network.layers), "layer")
        say(f"wrote {target}: {layers}, {size}; took {perf_counter() - started:.1f} s here")
