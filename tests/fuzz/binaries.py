"""Changes of binary files that keep their format: protobuf messages, arrays of numpy, pictures.

Changed bytes alone are nearly always refused by the first check of a format.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import numpy as np
from PIL import Image

from tests.fuzz import values

_LARGEST = 1 << 64

Field = tuple[int, int, int | bytes]
"""Number, wire type, and an integer or the bytes of a field."""


def message(rng: random.Random, data: bytes) -> bytes:
    """A protobuf message with a field dropped, repeated, moved, or of another value."""
    fields = _fields(data)
    if not fields:
        return data
    at = rng.randrange(len(fields))
    number, kind, value = fields[at]
    if isinstance(value, bytes) and len(value) > 1 and rng.random() < 0.8 and _fields(value):
        fields[at] = (number, kind, message(rng, value))
        return _joined(fields)
    change = rng.choice(("drop", "repeat", "move", "value", "value"))
    if change == "drop":
        del fields[at]
    elif change == "repeat":
        fields.insert(at, fields[at])
    elif change == "move":
        fields.insert(rng.randrange(len(fields)), fields.pop(at))
    else:
        fields[at] = (number, kind, _other(rng, value))
    return _joined(fields)


def array(rng: random.Random, data: bytes) -> bytes:
    """An array of numpy with other values, type, shape or order."""
    good = np.load(io.BytesIO(data))
    changes: tuple[Callable[[], np.ndarray], ...] = (
        lambda: _with_odd_values(rng, good),
        lambda: good * rng.choice((0.0, 1e-30, -1.0, 1e3, 1e30)),
        lambda: good.astype(rng.choice(("f2", "f4", "f8", "i1", "u1", "i8", "c8", "?", "S3"))),
        lambda: good.astype(good.dtype.newbyteorder()),
        lambda: np.asfortranarray(good),
        lambda: good.T,
        lambda: good[None],
        lambda: good[..., :-1],
        lambda: good[:1],
        lambda: good[:0],
        lambda: good.ravel(),
    )
    out = io.BytesIO()
    with np.errstate(all="ignore"):
        np.save(out, rng.choice(changes)(), allow_pickle=False)
    return out.getvalue()


def picture(rng: random.Random, data: bytes) -> bytes:
    """A picture of another size, mode or format, or one that is cut off."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    size = tuple(rng.choice((1, 2, 7, 40, 300)) for _ in range(2))
    if rng.random() < 0.5:
        image = image.resize((size[0], size[1]))
    mode = rng.choice(("RGB", "RGBA", "L", "LA", "P", "1", "CMYK", "I", "F", "YCbCr"))
    formats = ["TIFF"] if mode in ("CMYK", "I", "F", "YCbCr") else ["PNG", "TIFF"]
    formats += ["JPEG", "BMP", "GIF", "WEBP"] if mode == "RGB" else []
    out = io.BytesIO()
    image.convert("L" if mode in ("I", "F") else mode).convert(mode).save(out, rng.choice(formats))
    changed = out.getvalue()
    return changed[: rng.randrange(len(changed))] if rng.random() < 0.2 else changed


def _with_odd_values(rng: random.Random, good: np.ndarray) -> np.ndarray:
    changed = good.copy()
    for _ in range(rng.choice((1, 3))):
        changed.flat[rng.randrange(changed.size)] = rng.choice((np.nan, np.inf, -1e38, 1e38, 1e-45))
    return changed


def _other(rng: random.Random, value: int | bytes) -> int | bytes:
    if isinstance(value, int):
        return rng.choice([each % _LARGEST for each in values.WHOLE])
    kept = rng.randrange(len(value) // 4 + 1) * 4
    return rng.choice((b"", value[:kept], value + value, rng.randbytes(len(value))))


def _fields(data: bytes) -> list[Field]:
    """The fields of a message, or none if the bytes are not one."""
    fields: list[Field] = []
    at = 0
    try:
        while at < len(data):
            tag, at = _varint(data, at)
            number, kind = tag >> 3, tag & 7
            value: int | bytes
            if kind == 0:
                value, at = _varint(data, at)
            else:
                size = {1: 8, 5: 4}.get(kind)
                if size is None:
                    size, at = _varint(data, at) if kind == 2 else (len(data) + 1, at)
                value, at = data[at : at + size], at + size
            if not number or at > len(data):
                return []
            fields.append((number, kind, value))
    except IndexError:
        return []
    return fields


def _joined(fields: list[Field]) -> bytes:
    parts = []
    for number, kind, value in fields:
        parts.append(_as_varint(number << 3 | kind))
        if isinstance(value, int):
            parts.append(_as_varint(value))
        else:
            size = {1: 8, 5: 4}.get(kind)
            parts.append(_as_varint(len(value)) if size is None else b"")
            parts.append(value if size is None else value[:size].ljust(size, b"\0"))
    return b"".join(parts)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _as_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
