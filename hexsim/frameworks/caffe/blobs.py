"""Reads the weights of a caffemodel, by the name of their layer.

The schema contains only the fields that weights need, with the field numbers of Caffe's public
description of its files. Layers of the current format and of the second format (`layers`, called
V1) are read. Numbers are declared as bytes, since packed numbers are stored like that: they become
an array in one step, when a layer needs them.

Not supported: weights in HDF5, and the first format.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.files.places import require_ordinary
from hexsim.frameworks.messages import Message, message_classes
from hexsim.records import dataclass
from hexsim.texts.text import visible

_LARGEST = 2**31 - 1
"""Largest size of a protobuf message, in bytes."""
_TABLE = {
    "Net": "layers=2:V1Layer* layer=100:Layer*",
    "Layer": "name=1:bytes blobs=7:Blob*",
    "V1Layer": "name=4:bytes blobs=6:Blob*",
    "Blob": "num=1:int32 channels=2:int32 height=3:int32 width=4:int32 data=5:bytes* "
    "shape=7:Shape double_data=8:bytes*",
    "Shape": "dim=1:int64*",
    "Numbers": "data=5:float* double_data=8:double*",
}
"""Numbers is the message Blob with unpacked numbers, which files may contain as well."""
_MESSAGES = message_classes("caffemodel", _TABLE)
_OLD_SHAPE = "num", "channels", "height", "width"
_DTYPES = {"data": "<f4", "double_data": "<f8"}
_LONGEST = 32
"""Most axes of a blob."""


@dataclass(frozen=True)
class Blob:
    """One array: its shape in the file, and its numbers, converted to float32 when read."""

    shape: tuple[int, ...]
    dtype: str
    data: bytes

    def read(self) -> npt.NDArray[np.float32]:
        """Return the numbers as float32, in the shape of the file."""
        with np.errstate(over="ignore"):
            return np.frombuffer(self.data, self.dtype).astype(np.float32).reshape(self.shape)


Blobs = Mapping[str, tuple[Blob, ...]]


def read_blobs(path: Path) -> Blobs:
    """Return the blobs of all layers in the caffemodel `path`, or raise HexsimError."""
    try:
        blobs = {name: layer_blobs for name, layer_blobs in _layers(_net(path)) if layer_blobs}
    except (DecodeError, InvalidDataError, UnicodeDecodeError) as error:
        detail = f" ({error})" if isinstance(error, InvalidDataError) else ""
        raise HexsimError(
            f"'{path}' is no caffemodel, or a damaged one{detail}; download it again"
        ) from None
    if not blobs:
        raise HexsimError(f"'{path}' holds no weights of layers; give a .caffemodel file")
    return blobs


def _net(path: Path) -> Message:
    require_ordinary(path)
    try:
        if path.is_dir():
            raise HexsimError(f"cannot read '{path}': it is a folder; give a .caffemodel file")
        if path.stat().st_size > _LARGEST:
            raise HexsimError(f"'{path}' is larger than 2 GiB, which no caffemodel is")
        return _MESSAGES["Net"].FromString(path.read_bytes())
    except FileNotFoundError:
        raise HexsimError(f"no such file: '{path}'") from None
    except OSError as error:
        raise HexsimError(f"cannot read '{path}': {error.strerror}") from None


def _layers(net: Message) -> Iterator[tuple[str, tuple[Blob, ...]]]:
    for layer in (*net.layers, *net.layer):
        name = visible(layer.name.decode("utf-8"))
        yield name, tuple(_blob(blob, name) for blob in layer.blobs)


def _blob(message: Message, layer: str) -> Blob:
    arrays = _written(message)
    if len(arrays) != 1:
        content = "numbers of several types" if arrays else "no float or double numbers"
        raise InvalidDataError(f"a blob of layer '{layer}' holds {content}")
    ((dtype, data),) = arrays
    count, remainder = divmod(len(data), np.dtype(dtype).itemsize)
    shape: tuple[int, ...] = (count,)
    if message.HasField("shape"):
        shape = tuple(message.shape.dim[: _LONGEST + 1])
    elif any(map(message.HasField, _OLD_SHAPE)):
        shape = tuple(getattr(message, s) if message.HasField(s) else 1 for s in _OLD_SHAPE)
    fits = len(shape) <= _LONGEST and min(shape, default=0) >= 0 and math.prod(shape) == count
    if remainder or not fits:
        raise InvalidDataError(
            f"a blob of layer '{layer}' holds {count} numbers for shape {list(shape)}"
        )
    return Blob(shape, dtype, data)


def _written(message: Message) -> list[tuple[str, bytes]]:
    """Return the numbers of a blob with their dtype, one item per field and way of packing.

    Unpacked numbers do not match the schema, so protobuf keeps them as unknown fields. Parsing the
    message as Numbers reads packed and unpacked ones, and serialising it packs them.
    """
    packed = [(dtype, b"".join(getattr(message, field))) for field, dtype in _DTYPES.items()]
    for field in _DTYPES:
        message.ClearField(field)
    singly = _MESSAGES["Numbers"].FromString(message.SerializeToString())
    other = _MESSAGES["Blob"].FromString(singly.SerializeToString())
    packed += [(dtype, b"".join(getattr(other, field))) for field, dtype in _DTYPES.items()]
    return [(dtype, data) for dtype, data in packed if data]
