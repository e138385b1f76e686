"""Archives of other frameworks that are damaged, or several formats at once.

They are checked before Keras or PyTorch reads them, or taken for .dlc files. A case is told by its
number alone.
"""

from __future__ import annotations

import io
import pickle
import random
import struct
import zipfile
from functools import cache
from pathlib import Path

from hexsim.dlc.archive import open_archive
from hexsim.errors import HexsimError
from hexsim.frameworks.archives import HDF5, is_hdf5_alone
from hexsim.frameworks.pytorch import require_no_code

_DATA = pickle.dumps({"a": [1, 2.5, "x"], "b": "y" * 40}, protocol=2)
_EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 6 4\nshowpage\n%%EOF\n"
_PNG = b"\x89PNG\r\n\x1a\n"
_WORDS = (b"\1\0", b"\xff\xff", b"\x08\0", b"\x0c\0", b"\x0e\0", b"\x63\0")
"""Among them the methods: deflate, bzip2, LZMA, and one that nobody has."""
_DEEP = b"[" * 3000 + b"]" * 3000
_NAMES = ("../x", "/x", "a\\b", "\x1b[2J", "\u202ea", "x" * 3000, "", "A.JSON", "data.pkl", "x.py")
_FIELDS = struct.Struct("<4s4H2IH")
"""The end of a directory: mark, disk, its disk, entries here, entries, bytes, start, comment."""


def _archive(entries: dict[str, bytes], method: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


@cache
def good() -> tuple[bytes, ...]:
    """Archives as PyTorch and Keras write them, stored and deflated, without a network."""
    inner = _archive({"archive/data.pkl": _DATA}, zipfile.ZIP_STORED)
    entries = {
        "p/models/model.json": b'{"graph": {"nodes": [{"target": "torch.ops.aten.add.Tensor"}]}}',
        "p/data/weights/model.pt": inner,
        "p/version": b"1",
        "model": b"\x09\x04\x05\x00" + b"\xff" * 12,
    }
    return tuple(_archive(entries, way) for way in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))


def _flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return rng.choice((data[:at], data[at:], data[:at] + rng.randbytes(9) + data[at:]))


def _polyglot(rng: random.Random, data: bytes) -> bytes:
    """Another format before or behind it."""
    other = rng.choice((HDF5, HDF5 + b"\0" * 504, _EPS, _PNG, _DATA, b"\0" * 512 + HDF5))
    return rng.choice((other + data, data + other, other + data + other))


def _header(rng: random.Random, data: bytes) -> bytes:
    """A field of an entry's header, in the directory or before its data: flags, method, sizes."""
    mark, first = rng.choice(((b"PK\x01\x02", 6), (b"PK\x03\x04", 4)))
    places = [at for at in range(len(data)) if data.startswith(mark, at)]
    at = rng.choice(places) + first + 2 * rng.randrange(13)
    return data[:at] + rng.choice(_WORDS) + data[at + 2 :]


def _far(rng: random.Random, data: bytes) -> bytes:
    """An entry whose position is in a field of 64 bits."""
    end = list(_FIELDS.unpack(data[-_FIELDS.size :]))
    start = end[6]
    places = [at for at in range(start, len(data)) if data.startswith(b"PK\x01\x02", at)]
    at = rng.choice(places)
    (length,) = struct.unpack("<H", data[at + 28 : at + 30])
    position = rng.choice((0, len(data), 2**40, 2**63 - 1, 2**63, 2**64 - 1))
    extra = struct.pack("<HHQ", 1, 8, position)
    fixed = data[at : at + 30] + struct.pack("<H", len(extra)) + data[at + 32 : at + 42]
    name = data[at + 46 : at + 46 + length]
    entry = fixed + b"\xff" * 4 + name + extra
    end[5] += len(extra)
    rest = data[at + 46 + length : -_FIELDS.size]
    return data[:at] + entry + rest + _FIELDS.pack(*end)


def _directory(rng: random.Random, data: bytes) -> bytes:
    fields = list(_FIELDS.unpack(data[-_FIELDS.size :]))
    number = rng.randrange(1, len(fields))
    wide = 0xFFFFFFFF if number in (5, 6) else 0xFFFF
    fields[number] = rng.choice((0, 1, fields[number] + 1, wide))
    return data[: -_FIELDS.size] + _FIELDS.pack(*fields)


def _entry(rng: random.Random, _data: bytes) -> bytes:
    """Another entry: a name that misleads, a nest, a pickle that is cut or calls something."""
    name = rng.choice((*_NAMES, "p/models/m.json", "p/w.pt", "model"))
    call = b"cos\nsystem\n(S'true'\ntR."
    inner = _archive({"data.pkl": rng.choice((call, _DATA[:9], _flip(rng, _DATA)))}, 0)
    held = rng.choice((_DEEP, b'{"a":' * 2000, b"\xff", b"", call, inner, inner[:30], b"[1e999]"))
    other = b'{"nodes": [{"target": "x\xed\xa0\x80"}, {"expr_str": "' + b"(" * 900 + b'"}]}'
    return _archive({"p/version": b"1", name: rng.choice((held, other))}, rng.choice((0, 8)))


_CHANGES = (*(_flip, _flip, _cut, _polyglot, _header, _header, _far, _directory, _entry, _entry),)


def forged(number: int) -> bytes:
    """The file of a case."""
    rng = random.Random(number)
    return rng.choice(_CHANGES)(rng, rng.choice(good()))


def judged(number: int, folder: Path) -> str:
    """The sentences by which a file was refused, or nothing; anything else it raises is a fault."""
    path = folder / "m.pt2"
    path.write_bytes(forged(number))
    said = []
    for check in (is_hdf5_alone, require_no_code, open_archive):
        try:
            check(path)
        except HexsimError as error:
            said.append(str(error))
    return " | ".join(said)
