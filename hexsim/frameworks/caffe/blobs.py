"""The weights of a caffemodel, by the name of their layer, read as protobuf's bytes.

Only what weights need is read: names, shapes and numbers, which stay in the file's bytes until a
layer asks for them. Field numbers are those of Caffe's public description of its files; layers of
the present and of the second format (`layers`, called V1) are taken.

Left out: weights in HDF5, and the first format.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.files import require_ordinary
from hexsim.frameworks.wire import fields, varint
from hexsim.texts.names import visible

_LARGEST = 2**31 - 1
"""Bytes of a protobuf message."""
_LAYERS = {100: (1, 7), 2: (4, 6)}
"""Fields of a net that are layers: the fields of their name and blobs, present format and V1."""
_SHAPE, _OLD_SHAPE = 7, (1, 2, 3, 4)
_DATA = {5: "<f4", 8: "<f8"}
_LONGEST = 32
"""Axes that a blob can have."""


@dataclass(frozen=True)
class Blob:
    """One array: its shape as the file says it, and its numbers as singles when asked."""

    shape: tuple[int, ...]
    dtype: str
    pieces: tuple[memoryview, ...]

    def read(self) -> npt.NDArray[np.float32]:
        """The numbers, in the shape of the file."""
        data = self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)
        with np.errstate(over="ignore"):
            return np.frombuffer(data, self.dtype).astype(np.float32).reshape(self.shape)


Blobs = Mapping[str, tuple[Blob, ...]]


def read_blobs(path: Path) -> Blobs:
    """Return the blobs of all layers in the caffemodel `path`; HexsimError if it is none."""
    require_ordinary(path)
    try:
        if path.is_dir():
            raise HexsimError(f"cannot read '{path}': it is a folder; give a .caffemodel file")
        if path.stat().st_size > _LARGEST:
            raise HexsimError(f"'{path}' is larger than 2 GiB, which no caffemodel is")
        data = path.read_bytes()
    except FileNotFoundError:
        raise HexsimError(f"no such file: '{path}'") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no file has such a name"
        raise HexsimError(f"cannot read '{path}': {reason}") from None
    try:
        found = {name: blobs for name, blobs in _layers(memoryview(data)) if blobs}
    except InvalidDataError as error:
        raise HexsimError(
            f"'{path}' is no caffemodel, or a damaged one ({error}); download it again"
        ) from None
    if not found:
        raise HexsimError(f"'{path}' holds no weights of layers; give a .caffemodel file")
    return found


def _layers(net: memoryview) -> Iterator[tuple[str, tuple[Blob, ...]]]:
    for number, value in fields(net):
        if number in _LAYERS and isinstance(value, memoryview):
            name_field, blobs_field = _LAYERS[number]
            name, blobs = "", []
            for inner, content in fields(value):
                if inner == name_field and isinstance(content, memoryview):
                    name = visible(bytes(content).decode("utf-8"))
                elif inner == blobs_field and isinstance(content, memoryview):
                    blobs.append(_blob(content, name))
            yield name, tuple(blobs)


def _blob(content: memoryview, layer: str) -> Blob:
    shape: tuple[int, ...] | None = None
    old: dict[int, int] = {}
    pieces: dict[str, list[memoryview]] = {}
    for number, value in fields(content):
        if number == _SHAPE and isinstance(value, memoryview):
            shape = _dims(value)
        elif number in _OLD_SHAPE and isinstance(value, int):
            old[number] = value
        elif number in _DATA and isinstance(value, memoryview):
            pieces.setdefault(_DATA[number], []).append(value)
    if shape is None:
        shape = tuple(old.get(number, 1) for number in _OLD_SHAPE) if old else None
    if not pieces or len(pieces) > 1:
        raise InvalidDataError(f"a blob of layer '{layer}' holds no single or double numbers")
    ((dtype, data),) = pieces.items()
    size = sum(map(len, data))
    count, rest = divmod(size, np.dtype(dtype).itemsize)
    shape = (count,) if shape is None else shape
    if rest or math.prod(shape) != count or len(shape) > _LONGEST:
        raise InvalidDataError(
            f"a blob of layer '{layer}' holds {count} numbers for shape {list(shape)}"
        )
    return Blob(shape, dtype, tuple(data))


def _dims(content: memoryview) -> tuple[int, ...]:
    found = []
    for number, value in fields(content):
        if number == 1 and isinstance(value, int):
            found.append(value)
        elif number == 1 and isinstance(value, memoryview):
            at = 0
            while at < len(value):
                size, at = varint(value, at)
                found.append(size)
    return tuple(found)
