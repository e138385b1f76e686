"""`hexsim convert` converts a file of ONNX or another framework to a .dlc file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hexsim.cli._files import FILE, MODEL, Writes
from hexsim.cli._inputs import Appearance
from hexsim.cli._options import InputValuesOption, OutputNamesOption, by_name
from hexsim.cli._output import Json, beside_model
from hexsim.cli._say import say
from hexsim.cli._signature import Reads, grouped
from hexsim.cli._simulated import Shapes
from hexsim.errors import spelled
from hexsim.records import dataclass

if TYPE_CHECKING:
    from hexsim.api.pictures import Steps
    from hexsim.results.conversion import Conversion

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
class ConvertedFile(Json):
    """The .dlc file, and what is told of it."""

    output: Annotated[
        Path | None, "File to write; default: the model's name with .dlc.", Writes(_target)
    ] = None


def _types(texts: list[str] | None) -> dict[str, str]:
    return by_name(spelled("input_type"), texts, "image", str)


def _encodings(texts: list[str] | None) -> dict[str, str]:
    return by_name(spelled("input_encoding"), texts, "bgr", str)


def _symbols(texts: list[str] | None) -> dict[str, int]:
    return by_name(spelled("define_symbol"), texts, "1", _size)


def _size(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9:
        raise ValueError
    return int(text)


@dataclass(frozen=True)
class Converting(Shapes):
    """Options to read the file, and what is kept beside the network."""

    define_symbol: Annotated[
        Mapping[str, int] | None,
        Reads(list[str] | None, _symbols),
        "NAME 1: size that a name in the shapes of an ONNX file's inputs stands for; repeatable.",
    ] = None
    input_values: InputValuesOption = None
    output_names: OutputNamesOption = ()
    caffe_bin: Annotated[
        Path | None, "Weights of a prototxt; default: the .caffemodel of its name.", FILE
    ] = None
    keep_batch_norm: Annotated[bool, "Fold no batch norm into the layer before it."] = False
    input_type: Annotated[
        Mapping[str, str] | None,
        Reads(list[str] | None, _types),
        "NAME image, default or opaque; repeatable.",
    ] = None
    input_encoding: Annotated[
        Mapping[str, str] | None,
        Reads(list[str] | None, _encodings),
        "NAME bgr, rgb, rgba, argb32, nv21, time_series or other; repeatable.",
    ] = None
    quantization_overrides: Annotated[
        Path | None, "Encodings in AIMET's JSON, kept for the quantiser.", FILE
    ] = None
    model_version: Annotated[str, "ASCII text kept in the file."] = "N/A"
    float_bitwidth: Annotated[int, "Bits of all numbers in the file: 32 or 16."] = 32


def converter(show: Callable[[Conversion, float], None]) -> Callable[..., None]:
    """Return the command; `show` prints the answer, which took some seconds."""

    @grouped
    def convert(
        *,
        model: Annotated[
            str,
            typer.Argument(help="File of ONNX or another framework, or built-in network."),
            MODEL,
        ],
        outputs: ConvertedFile,
        how: Converting,
        appearance: Appearance,
        dry_run: Annotated[bool, "Write nothing; list the layers that fall back and why."] = False,
    ) -> None:
        """Convert a file of ONNX or another framework to a float .dlc file.

        With --float-bitwidth 16 its numbers have 16 bits: for htp_fp16, GPU and CPU.
        """
        from hexsim.api.convert import convert

        started = perf_counter()
        steps = {
            "size" if name == "resize" else name: step for name, step in appearance.steps().items()
        }
        done = convert(model, outputs.output, **how.keywords(), pictures=cast("Steps", steps))
        outputs.write(done)
        show(done, perf_counter() - started)

    return convert


def _show(done: Conversion, seconds: float) -> None:
    say(f"{done}; took {seconds:.1f} s here" if done.file else f"{done}")


convert = converter(_show)
