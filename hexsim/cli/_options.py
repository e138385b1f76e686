"""Options that several commands share, and their parsers."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeVar, cast

import typer

from hexsim.cli._files import ANCHOR, CHIP, FILE, INPUT_LIST, MODEL, OUTPUT, PICTURES, STACK
from hexsim.cli._signature import Reads
from hexsim.errors import HexsimError, spelled, unknown
from hexsim.runtimes import RUNTIMES, Runtime, RuntimeChoice

AUTO = "auto: what a phone would use, htp, else dsp, or aip for a file with sections"
"""What the default of --runtime means."""


def runtime_names(begun: str) -> list[str]:
    """Return the names of runtimes; after a comma, complete the last name."""
    before, comma, last = begun.rpartition(",")
    return [f"{before}{comma}{name}" for name in RUNTIMES if name.startswith(last)]


Value = TypeVar("Value")
MOST_PIXELS = 1 << 14
"""Longest side of a picture to make; no network of the stacks takes a longer one."""


def parse_runtimes(text: str | None) -> list[Runtime] | None:
    """Parse runtimes separated by commas, in any case; None (all of the chip) stays None."""
    if text is None:
        return None
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    if not names:
        raise HexsimError(f"--runtime names no runtime; known: {', '.join(RUNTIMES)}")
    for name in names:
        if name not in RUNTIMES:
            raise unknown("runtime", name, RUNTIMES)
    return [cast(Runtime, name) for name in dict.fromkeys(names)]


def parse_choice(text: str) -> RuntimeChoice:
    """Parse the name of one runtime, or auto."""
    return "auto" if text.strip().lower() == "auto" else parse_runtime(text)


def parse_runtime(text: str) -> Runtime:
    """Parse the name of one runtime."""
    (runtime, *others) = parse_runtimes(text) or []
    if others:
        raise HexsimError(f"give one runtime, not '{text}'")
    return runtime


def parse_optional_runtime(text: str | None) -> Runtime | None:
    """Parse the name of one runtime, if there is one."""
    return None if text is None else parse_runtime(text)


RUNTIME = Reads(str | None, parse_optional_runtime, runtime_names)
RUNTIME_OR_AUTO = Reads(str, parse_choice, runtime_names)
RuntimesOption = Annotated[
    list[Runtime] | None,
    Reads(str | None, parse_runtimes, runtime_names),
    f"Comma separated, of {', '.join(RUNTIMES)}; default: all of each chip.",
]


def several(texts: list[str] | None) -> list[str]:
    """Return the values of an option that may be repeated."""
    return texts or []


def parse_input_dims(texts: list[str] | None) -> dict[str, tuple[int, ...]]:
    """Read `NAME 1,3,224,224` texts."""
    return by_name(spelled("input_dim"), texts, "1,3,224,224", _shape)


def parse_input_values(texts: list[str] | None) -> dict[str, float]:
    """Read `NAME 16000` texts."""
    return by_name(spelled("input_value"), texts, "16000", float)


def by_name(
    option: str, texts: list[str] | None, example: str, read: Callable[[str], Value]
) -> dict[str, Value]:
    """Return the values of an option by name; `read` raises ValueError for a wrong one."""
    values = {}
    for text in texts or []:
        name, _, value = text.strip().rpartition(" ")
        try:
            values[name.strip()] = read(value)
        except ValueError:
            name = ""
        if not name:
            raise HexsimError(f"{option} '{text}' is not of the form 'NAME {example}'")
    return values


def _shape(text: str) -> tuple[int, ...]:
    shape = tuple(int(size) for size in text.split(","))
    if min(shape) < 1:
        raise ValueError
    return shape


def parse_size(text: str) -> tuple[int, int]:
    """Read height and width of a picture, `227` or `480,640`."""
    words = text.split(",")
    sizes = [int(word) for word in words if word.isdecimal() and len(word) < 9]
    if len(sizes) != len(words) or len(sizes) > 2 or not all(0 < n <= MOST_PIXELS for n in sizes):
        raise HexsimError(
            f"--size '{text}' is not a size like 227 or 480,640, of at most {MOST_PIXELS} pixels a "
            "side"
        )
    return sizes[0], sizes[-1]


ModelArgument = Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network."), MODEL]
ChipOption = Annotated[str, "Chip name, or a TOML file.", CHIP]
StackOption = Annotated[str | None, "Software stack; default: the chip's own.", STACK]
AnchorOption = Annotated[
    str | None,
    typer.Option(
        metavar="NETWORK=MS",
        help="Set the speed of the tensor processor from a latency measured on the phone; for "
        "float16, NETWORK@htp_fp16=MS. NETWORK=FILE, or NETWORK@RUNTIME=FILE, scales classes of "
        "layers by a profile as compare --measured reads it.",
    ),
    ANCHOR,
]
VtcmOption = Annotated[
    float | None,
    typer.Option(
        metavar="MB",
        help="VTCM that each graph on the tensor processor may use, in MB; default: all of it.",
    ),
]
ProfileOption = Annotated[str | None, "Performance profile; default: the stack's."]
BackgroundOption = Annotated[
    Sequence[str],
    Reads(list[str] | None, several),
    "Clients that use the DSP meanwhile: camera, audio, sensor-hub or a TOML file; repeatable.",
    FILE,
]
BufferOption = Annotated[str | None, "User buffers: float or tf8; default: the stack's."]
InputDimsOption = Annotated[
    Mapping[str, tuple[int, ...]] | None,
    Reads(list[str] | None, parse_input_dims),
    "NAME 1,3,224,224: shape of an input; repeatable.",
]
InputValuesOption = Annotated[
    Mapping[str, float] | None,
    Reads(list[str] | None, parse_input_values),
    "NAME 16000: constant value of an input; repeatable.",
]
OutputNamesOption = Annotated[
    Sequence[str],
    Reads(list[str] | None, several),
    "Tensor at which the network ends, instead of its outputs; repeatable.",
]
FallbackOption = Annotated[
    bool, typer.Option(" /--no-cpu-fallback", help="Refuse layers that the runtime does not take.")
]
ThreadsOption = Annotated[
    int,
    typer.Option(
        min=0,
        max=64,
        help="Threads for a list, or for a layer; default: one per core, at most four.",
    ),
]
InputListOption = Annotated[
    Path | None, "Text file that names raw inputs; default: seeded.", INPUT_LIST
]
ImagesOption = Annotated[Path | None, "Folder of pictures, instead of an input list.", PICTURES]
ResizeOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Pictures: pixels of the shorter side before the middle is cut out; default: as few "
        "as the input needs.",
    ),
]
FitOption = Annotated[
    Literal["crop", "stretch"] | None,
    "Pictures: cut to the input's proportions (default), or stretched.",
]
FloatModelOption = Annotated[str | None, "Float model that a quantised MODEL was made from.", MODEL]
QuantizeOption = Annotated[
    bool,
    typer.Option(
        "--quantize/--no-quantize", help="Quantise float models for runtimes that refuse them."
    ),
]
OverrideParamsOption = Annotated[
    bool | None,
    typer.Option(
        "--override-params/--no-override-params",
        help="Quantise with all overrides that the file holds, or with none; default: those of an "
        "ONNX file's own quantising nodes, which snpe-dlc-quantize takes with --override_params "
        "only.",
    ),
]
HtaOption = Annotated[
    bool, typer.Option(" /--no-hta", help="Compile no HTA sections into models quantised here.")
]
JsonOption = Annotated[Path | None, "Write the results as JSON.", OUTPUT]
HtmlOption = Annotated[Path | None, "Write a page of figures, one file.", OUTPUT]
