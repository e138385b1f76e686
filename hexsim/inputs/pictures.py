"""Pictures from a folder, as the network takes them.

Preprocessing
1. The picture is turned as its EXIF data say and made red, green, blue, or grey for one channel.
2. It is cut from its middle to the proportions of the input (`fit` "crop"), or not ("stretch").
3. It is resized bilinearly, with antialiasing where it shrinks.
4. Channels are put in `channel_order`, then value = (byte - mean) / std, per channel or for all.

An input that the network converts itself (`hexsim convert --input-encoding`) gets the bytes of
its encoding instead of step 4. Files are taken in the order of their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError
from hexsim.files import require_ordinary
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.colours import encoded
from hexsim.inputs.input_list import batch_size
from hexsim.inputs.source import Feed, InputSource, padding
from hexsim.layers.colour_conversion import CONVERTED
from hexsim.passes.input_formats import converted_tensor

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = frozenset(
    {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
)
"""Files with these endings are pictures, in any case; others are left alone."""


@dataclass(frozen=True)
class Preprocessing:
    """How a picture becomes numbers; `mean` and `std` in bytes, one or one per channel."""

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    channel_order: Literal["rgb", "bgr"] = "rgb"
    fit: Literal["crop", "stretch"] = "crop"


def pictures(folder: Path, network: Network, how: Preprocessing) -> InputSource:
    """The pictures in `folder`; they are read when they are used.

    Raises HexsimError if Pillow is missing, the folder holds no picture, or the network's input
    cannot be one or contradicts `how`.
    """
    _require_pillow()
    try:
        files = sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES)
    except OSError as error:
        raise HexsimError(f"cannot read folder '{folder}': {error.strerror}") from None
    for file in files:
        require_ordinary(file)
    if not files:
        raise HexsimError(
            f"folder '{folder}' holds no picture; known endings: {', '.join(sorted(SUFFIXES))}"
        )
    _check(network, how)
    batch = batch_size(network)

    def feeds() -> Iterator[Feed]:
        for start in range(0, len(files), batch):
            yield _feed(files[start : start + batch], network, how)

    text = f"{len(files)} pictures of '{folder}'{padding(len(files), batch)}"
    names, paths = tuple(file.name for file in files), tuple(map(str, files))
    sets = tuple(paths[start : start + batch] for start in range(0, len(paths), batch))
    return InputSource(feeds, len(files), batch, text, names, sets)


def _require_pillow() -> None:
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise HexsimError(
            "--images needs Pillow to read pictures; install it (pip install 'hexsim[images]')"
        ) from None


def _check(network: Network, how: Preprocessing) -> None:
    if len(network.inputs) != 1:
        raise HexsimError(
            f"network '{network.name}' has {len(network.inputs)} inputs; pictures can feed one, "
            "write an input list (--input-list)"
        )
    (name,) = network.inputs
    form = network.input_format(name)
    shape = converted_tensor(network.tensors[name], network).shape
    if len(shape) != 4 or shape[-1] not in (1, 3) or shape[0] != batch_size(network):
        raise HexsimError(
            f"input '{name}' is stored as {'x'.join(map(str, shape))}, which is no picture (batch "
            "x height x width x 1 or 3 channels); write an input list (--input-list)"
        )
    for option, values in (("--mean", how.mean), ("--std", how.std)):
        if len(values) not in (1, shape[-1]):
            raise HexsimError(
                f"{option} has {len(values)} values; input '{name}' has {shape[-1]} channels, "
                "give one value or one for each"
            )
    plain = (how.mean, how.std) == ((0.0,), (1.0,))
    if not plain and (form.type == "image" or form.encoding in CONVERTED):
        raise HexsimError(
            f"input '{name}' takes bytes ({form.type}, {form.encoding}); leave --mean and --std out"
        )
    if how.channel_order != "rgb" and form.encoding in CONVERTED:
        raise HexsimError(
            f"input '{name}' is {form.encoding}, which the network converts to bgr itself; leave "
            "--channel-order out"
        )


def _feed(files: list[Path], network: Network, how: Preprocessing) -> Feed:
    (name,) = network.inputs
    tensor = network.tensors[name]
    array = np.zeros(tensor.shape, np.float32)
    _, height, width, channels = converted_tensor(tensor, network).shape
    encoding = network.input_format(name).encoding
    for row, file in zip(array, files, strict=False):
        pixels = _pixels(file, height, width, channels, how.fit)
        row[...] = encoded(pixels, encoding) if encoding in CONVERTED else _numbers(pixels, how)
    array[len(files) :] = array[len(files) - 1]
    return {name: array.astype(tensor.dtype)}


def _numbers(pixels: npt.NDArray[np.uint8], how: Preprocessing) -> FloatArray:
    ordered = pixels[..., ::-1] if how.channel_order == "bgr" else pixels
    numbers: FloatArray = ((ordered - np.array(how.mean)) / np.array(how.std)).astype(np.float32)
    return numbers


def _pixels(file: Path, height: int, width: int, channels: int, fit: str) -> npt.NDArray[np.uint8]:
    """Bytes of the picture, (height, width, channels), red first."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    if not file.is_file():
        raise HexsimError(f"cannot read picture '{file}': it is a folder, a pipe or a device")
    try:
        with Image.open(file) as opened:
            image = ImageOps.exif_transpose(opened).convert("L" if channels == 1 else "RGB")
    except Exception as error:  # a decoder for each kind of file, and each has its own
        reason = str(error).strip().split("\n")[0]
        if isinstance(error, UnidentifiedImageError) or not reason:
            reason = "it is none of the kinds that Pillow knows, or damaged"
        raise HexsimError(f"cannot read picture '{file}': {reason}") from None
    box = _middle(image, height, width) if fit == "crop" else None
    resized = image.resize((width, height), Image.Resampling.BILINEAR, box)
    return np.asarray(resized, np.uint8).reshape(height, width, channels)


def _middle(image: Image, height: int, width: int) -> tuple[float, float, float, float]:
    """The largest part in the middle that has the proportions of height x width."""
    scale = min(image.width / width, image.height / height)
    across, down = min(scale * width, image.width), min(scale * height, image.height)
    left, top = (image.width - across) / 2, (image.height - down) / 2
    return left, top, min(left + across, image.width), min(top + down, image.height)
