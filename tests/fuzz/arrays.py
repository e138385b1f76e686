"""Mean images (.npy) with hostile headers: pickled objects, huge shapes, wrong types and orders.

A case is told by its number alone.
"""

from __future__ import annotations

import io
import pickle
import random
import struct
import zipfile
from pathlib import Path

import numpy as np

from hexsim.errors import HexsimError
from hexsim.graph.network_ends import PictureSteps
from hexsim.inputs.preprocessing import mean_image, require_steps
from hexsim.inputs.preprocessing import means as mean_of

MARK = "loaded.txt"
"""The file that a pickled object writes where it is loaded."""
CHANNELS, HEIGHT, WIDTH = 3, 5, 6
_DESCRIPTIONS = (
    *("<f4", ">f4", "<f8", ">f8", "<f2", "|u1", "<i8", ">i2", "|b1", "<c8", "|S3", "<U2", "|O"),
    *("|V4", "<M8[s]", "<f400", "", "f" * 4000, "\x00", "O,O", ",", "(2,)f4", "f4,(9", None, 5),
    *((), ("<f4",), ("<f4", (2**40, 2**40)), ("<f4", "x"), [], [1], [("a",)], [("", "|V4")]),
    *([("a", "<f4"), ("a", "<f4")], [("a", "O")], {}, {"a": 1}, {"names": 1, "formats": 2}),
    *({"a": ("<f4",)}, {"names": ["a"], "formats": ["f4"], "offsets": [-4], "itemsize": 2**31}),
)
_SHAPES = (
    *((CHANNELS, HEIGHT, WIDTH), (0, 5, 6), (3, 0, 0), (), (90,), (1,) * 40, (3, -5, -6)),
    *((2**62, 2**62, 4), (10**6, 10**6, 3), (10**30, 1, 1), (3.0, 5, 6), (True, 90, 1), 90, "356"),
)


class _Writes:
    """An object whose pickle writes a file when it is loaded."""

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path(MARK).write_text, ("loaded",)


def _header(text: str, version: tuple[int, int], length: int | None = None) -> bytes:
    data = text.encode("utf-8", "surrogatepass") + b"\n"
    size = len(data) if length is None else length
    number = struct.pack("<H", size & 0xFFFF) if version[0] == 1 else struct.pack("<I", size)
    return b"\x93NUMPY" + bytes(version) + number + data


def _any_header(rng: random.Random) -> bytes:
    fields = {
        "descr": rng.choice(_DESCRIPTIONS),
        "fortran_order": rng.choice((False, True, 1, None, "False")),
        "shape": rng.choice(_SHAPES),
    }
    for _ in range(rng.choice((0, 0, 0, 1))):
        fields.pop(rng.choice(list(fields)))
    version = rng.choice(((1, 0), (2, 0), (3, 0), (9, 9)))
    length = rng.choice((None, None, None, 0, 5, 2**31))
    body = np.ones(90, "<f4").tobytes()
    return _header(repr(fields), version, length) + rng.choice((body, body[:7], b"", body * 3))


def _odd_header(rng: random.Random) -> bytes:
    text = rng.choice(
        (
            *("(" * 5000, "[" * 150 + "]" * 150, "__import__('os')", "{}", "{1: 2}", "None"),
            *("\ud800", "-" * 9000 + "1", "{[]: 1}", "x\n  y\n z", "{'descr': 1L}", "\0", ""),
            *("9" * 8000, "1" + "+1j" * 3000, "'''", "{'a': 1, 2: 3, None: 4}", "f''", "\\"),
        )
    )
    return _header(text, rng.choice(((1, 0), (3, 0)))) + bytes(360)


def saved(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def _pickled(rng: random.Random) -> bytes:
    array = np.empty((CHANNELS, HEIGHT, WIDTH), object)
    array[:] = 1.0
    array[0, 0, 0] = _Writes()
    return rng.choice((saved(array), pickle.dumps(_Writes(), protocol=rng.choice((0, 2, 4)))))


def _archive(rng: random.Random) -> bytes:
    """An .npz, with a member that is there twice."""
    buffer = io.BytesIO()
    inner = rng.choice((_pickled, _any_header))
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in ("a.npy", "b.npy", "../c.npy"):
            archive.writestr(name, inner(rng))
    return buffer.getvalue().replace(b"b.npy", b"a.npy")


def right(number: int) -> np.ndarray:
    """An image of numbers in any order and byte order."""
    rng = random.Random(number)
    image = np.arange(90).reshape(CHANNELS, HEIGHT, WIDTH).astype(rng.choice(("<f4", ">f4", ">f8")))
    return np.asarray(image, order=rng.choice(("C", "F")))


def forged(number: int) -> bytes:
    """The file of a case."""
    rng = random.Random(number)
    return rng.choice((_any_header, _any_header, _any_header, _odd_header, _pickled, _archive))(rng)


def means(data: bytes, folder: Path) -> np.ndarray:
    """The mean of rows x columns x channels that the product reads from a file."""
    path = folder / "mean.npy"
    path.write_bytes(data)
    how = PictureSteps(mean_image=mean_image(path))
    require_steps(how, HEIGHT, WIDTH, CHANNELS, "an input")
    return mean_of(how, HEIGHT, WIDTH)


def judged(number: int, folder: Path) -> str:
    """The sentence by which a file was refused, or nothing; anything else it raises is a fault."""
    try:
        shape = means(forged(number), folder).shape
    except HexsimError as error:
        return str(error)
    if shape != (HEIGHT, WIDTH, CHANNELS):
        raise AssertionError(f"case {number} gives the shape {shape}")
    return ""
