"""Pictures of a folder as inputs of a network (`hexsim.inputs.preprocessing`), or as raw files.

An input that the network converts itself (`hexsim convert`) gets the bytes of its encoding instead
of numbers: NV21 uses the inverse of the matrix of `hexsim.layers.images` (BT.601, luma 16 to 235);
the chroma of 2x2 pixels is their mean.

Of raw files `<name>.raw` has the numbers of `<name>.jpg`, float32, little endian, channels last
unless requested otherwise, no header; an NV21 input gets its bytes. A blank in a name becomes an
underscore, since blanks separate the files of a line. The scripts of SNPE's tutorials write such a
folder (documented), `raw_list.txt` included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, spelled
from hexsim.files.atomic_write import claim, write_bytes, write_text
from hexsim.graph import whole_numbers
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import FloatArray, Network
from hexsim.graph.network_ends import InputEncoding, PictureSteps
from hexsim.inputs.preprocessing import (
    Doubles,
    means,
    numbers,
    picture_files,
    pixels_of,
    require_steps,
)
from hexsim.inputs.source import Feed, Feeds, InputSource, padding
from hexsim.layers.images import CONVERTED, YVU_ORIGIN, YVU_TO_BGR
from hexsim.passes.network_inputs import converted_tensor
from hexsim.records import dataclass, replace

Bytes = npt.NDArray[np.uint8]


def encoded(rgb: Bytes, encoding: InputEncoding) -> FloatArray:
    """Return the stored input, float32 bytes, for pixels (height, width, 3), red first."""
    opaque = np.full((*rgb.shape[:2], 1), 255, np.uint8)
    match encoding:
        case "rgba":
            rgb = np.concatenate([rgb, opaque], axis=2)
        case "argb32":
            rgb = np.concatenate([rgb[..., ::-1], opaque], axis=2)
        case "nv21":
            return _nv21(rgb)
    return rgb.astype(np.float32)


def _nv21(rgb: Bytes) -> FloatArray:
    height, width, _ = rgb.shape
    yvu = rgb[..., ::-1] @ np.linalg.inv(np.array(YVU_TO_BGR)) + np.array(YVU_ORIGIN)
    blocks = yvu[..., 1:].reshape(height // 2, 2, width // 2, 2, 2).mean(axis=(1, 3))
    plane = np.concatenate([yvu[..., 0], blocks.reshape(height // 2, width)])
    stored: FloatArray = np.clip(np.rint(plane), 0, 255).astype(np.float32)[..., np.newaxis]
    return stored


@dataclass(frozen=True)
class Frame:
    """The target of every picture: its size in pixels, and numbers, or bytes of an encoding."""

    height: int
    width: int
    channels: int
    how: PictureSteps
    means: Doubles
    encoding: InputEncoding = "bgr"

    @classmethod
    def of(cls, height: int, width: int, channels: int, how: PictureSteps, owner: str) -> Frame:
        """Return the frame of `owner`; raise HexsimError if `how` contradicts its size."""
        require_steps(how, height, width, channels, owner)
        return cls(height, width, channels, how, means(how, height, width))

    def stored(self, file: Path) -> FloatArray:
        """Return the picture in `file` in stored order, channels last."""
        pixels = pixels_of(file, self.height, self.width, self.channels, self.how)
        if self.encoding in CONVERTED:
            return encoded(pixels, self.encoding)
        return numbers(self.how, pixels, self.means)


def pictures(folder: Path, network: Network, how: PictureSteps) -> InputSource:
    """Return the pictures in `folder`, which are read when they are used.

    Raises HexsimError if Pillow is missing, the folder holds no picture, or the network's input
    cannot be one or contradicts `how`.
    """
    files = picture_files(folder)
    frame, batch = frame_of(network, how), batch_size(network)

    count = f"{len(files)} picture{'s' * (len(files) != 1)}"
    text = f"{count} of '{folder}'{padding(len(files), batch)}"
    names, paths = tuple(file.name for file in files), tuple(map(str, files))
    sets = tuple(paths[start : start + batch] for start in range(0, len(paths), batch))
    read = _Pictures(tuple(files), batch, network.without_values(), frame)
    return InputSource(read, len(files), batch, text, names, sets, pictures=how)


def frame_of(network: Network, how: PictureSteps) -> Frame:
    """Return the frame for the input of `network`; raise HexsimError if it takes no pictures."""
    if len(network.inputs) != 1:
        raise HexsimError(
            f"network '{network.name}' has {len(network.inputs)} inputs; pictures can feed one, "
            f"write an input list ({spelled('input_list')})"
        )
    (name,) = network.inputs
    form = network.input_format(name)
    shape = converted_tensor(network.tensors[name], network).shape
    if len(shape) != 4 or shape[-1] not in (1, 3) or shape[0] != batch_size(network):
        raise HexsimError(
            f"input '{name}' is stored as {'x'.join(map(str, shape))}, which is no picture (batch "
            f"x height x width x 1 or 3 channels); write an input list ({spelled('input_list')})"
        )
    frame = Frame.of(*shape[1:], how, f"input '{name}'")
    plain = (how.mean, how.std, how.mean_image) == ((0.0,), (1.0,), None)
    if not plain and (form.type == "image" or form.encoding in CONVERTED):
        raise HexsimError(
            f"input '{name}' takes bytes ({form.type}, {form.encoding}); leave "
            f"{spelled('mean')}, {spelled('mean_file')} and {spelled('std')} out"
        )
    if how.channel_order != "rgb" and form.encoding in CONVERTED:
        raise HexsimError(
            f"input '{name}' is {form.encoding}, which the network converts to bgr itself; leave "
            f"{spelled('channel_order')} out"
        )
    return Frame(frame.height, frame.width, frame.channels, how, frame.means, form.encoding)


@dataclass(frozen=True)
class _Pictures(Feeds):
    """Sets of `batch` pictures; the last set is filled up with its last picture."""

    files: tuple[Path, ...]
    batch: int
    network: Network
    frame: Frame

    def feed(self, index: int) -> Feed:
        (name,) = self.network.inputs
        tensor = self.network.tensors[name]
        files = self.files[index * self.batch : (index + 1) * self.batch]
        array = np.zeros(tensor.shape, np.float32)
        for row, file in zip(array, files, strict=False):
            row[...] = self.frame.stored(file)
        array[len(files) :] = array[len(files) - 1]
        self._require_allowed(name, array, files)
        return {name: array.astype(tensor.dtype)}

    def _require_allowed(self, name: str, array: FloatArray, files: Sequence[Path]) -> None:
        """Raise HexsimError for a picture with a number that the input's type does not have."""
        dtype = self.network.tensors[name].dtype
        for row, file in zip(array, files, strict=False):
            if fault := whole_numbers.fault(row, dtype):
                raise HexsimError(
                    f"picture '{file}' for input '{name}' gives {fault}; choose "
                    f"{spelled('mean')} and {spelled('std')} that give such numbers"
                )

    def absolute(self) -> Self:
        return replace(self, files=tuple(file.absolute() for file in self.files))


LIST = "raw_list.txt"
"""The name of the list, as in the tutorials."""

Layout = Literal["nhwc", "nchw"]


def write_raw_files(
    files: Sequence[Path],
    frame: Frame,
    folder: Path,
    layout: Layout = "nhwc",
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write the pictures in `files` to `folder`; return the list.

    `progress` gets the number done. Raises HexsimError for a picture that cannot be read, for two
    that would have the same name, and for a folder that cannot be written or named in a list.
    """
    if len(str(folder).split()) != 1 or str(folder)[0] in "#%" or ":=" in str(folder):
        raise HexsimError(
            f"folder '{folder}' cannot be named in an input list, where blanks, := and a # or % in "
            "front have a meaning; choose another folder"
        )
    targets: dict[Path, Path] = {}
    for file in files:
        target = folder / f"{'_'.join(file.stem.replace(':=', ' ').split())}.raw"
        if target in targets:
            raise HexsimError(
                f"'{targets[target].name}' and '{file.name}' would both be '{target.name}'; rename "
                "one of them"
            )
        targets[target] = file
    listed = folder / LIST
    claim((*targets, listed), parents=True)
    dtype = "u1" if frame.encoding == "nv21" else "<f4"
    for done, (target, file) in enumerate(targets.items(), start=1):
        array = frame.stored(file)
        ordered = array.transpose(2, 0, 1) if layout == "nchw" else array
        write_bytes(target, ordered.astype(dtype).tobytes(), parents=True)
        progress(done)
    write_text(listed, "".join(f"{target}\n" for target in targets))
    return listed
