"""`hexsim prepare` converts a folder of pictures to raw files and an input list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from hexsim.cli._files import MODEL, PICTURES, Writes
from hexsim.cli._inputs import Appearance
from hexsim.cli._options import InputDimsOption, parse_size
from hexsim.cli._say import say
from hexsim.cli._signature import grouped
from hexsim.errors import HexsimError, counting

if TYPE_CHECKING:
    from hexsim.inputs.pictures import Frame


@grouped
def prepare(
    *,
    images: Annotated[Path, typer.Argument(help="Folder of pictures."), PICTURES],
    model: Annotated[
        str | None, ".dlc or ONNX file or built-in network, for its input.", MODEL
    ] = None,
    input_dims: InputDimsOption = None,
    size: Annotated[str | None, "Pixels instead: 227, or HEIGHT,WIDTH."] = None,
    grey: Annotated[bool, "With --size: one channel, not three."] = False,
    layout: Annotated[
        Literal["nhwc", "nchw"], "With --size: order of the axes; hexsim reads nhwc."
    ] = "nhwc",
    appearance: Appearance,
    output: Annotated[Path, "Folder to write to.", Writes(folder=True)] = Path("prepared"),
) -> None:
    """Write pictures as raw inputs, with their list: cut, resized, moved and scaled."""
    from hexsim.dlc.loading import load
    from hexsim.inputs.pictures import Frame, frame_of, write_raw_files
    from hexsim.inputs.preprocessing import picture_files

    if (model is None) == (size is None):
        raise HexsimError("pictures are as large as the input of a --model, or --size; give one")
    files = picture_files(images)
    if model is not None:
        if grey or layout != "nhwc":
            raise HexsimError(
                "the --model says how many channels there are, and that they come last; leave "
                "--grey and --layout out"
            )
        network = load(model, input_dims=input_dims or {}).network
        frame = frame_of(network, appearance.preprocessing(network))
    else:
        assert size is not None
        how, channels = appearance.preprocessing(), 1 if grey else 3
        frame = Frame.of(*parse_size(size), channels, how, "a picture of --size")
    with counting("preparing", len(files)) as progress:
        listed = write_raw_files(files, frame, output, layout, progress)
    say(f"{len(files)} pictures as {_shape(frame, layout)}, listed in {listed}")


def _shape(frame: Frame, layout: str) -> str:
    sides = [frame.height, frame.width]
    axes = [frame.channels, *sides] if layout == "nchw" else [*sides, frame.channels]
    if frame.encoding == "nv21":
        return f"NV21 bytes of {frame.height} x {frame.width} pixels"
    return f"float32 of {' x '.join(map(str, axes))}"
