"""Pictures of a folder as inputs of a network (`hexsim.inputs.preprocessing`).

An input that the network converts itself (`hexsim convert`) gets the bytes of
its encoding instead of numbers. Files are in the order of their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from hexsim.errors import HexsimError, spelled
from hexsim.graph import whole_numbers
from hexsim.graph.input_format import InputEncoding, PictureSteps
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.batches import batch_size
from hexsim.inputs.colours import encoded
from hexsim.inputs.preprocessing import (
    Doubles,
    means,
    numbers,
    picture_files,
    pixels_of,
    require_steps,
)
from hexsim.inputs.source import Feed, Feeds, InputSource, padding
from hexsim.layers.images import CONVERTED
from hexsim.passes.input_formats import converted_tensor


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
