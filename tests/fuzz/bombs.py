"""Files that are far too large, or become so when they are read: readers bound their work first.

A case takes a file of a reader and grows it in a way that its format has. It is told by its number
alone. Who reads it may refuse it or answer, within the time and memory of any case.
"""

from __future__ import annotations

import dataclasses
import io
import os
import random
import re
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.binaries import _fields, _joined
from tests.fuzz.commands import description, ended
from tests.fuzz.containers import opened, sealed
from tests.fuzz.readers import OPTIONS, READERS, Case, Reader, lines_of

_LARGE = 50 << 20
"""Bytes of a text that the limit of texts admits, whatever its lines say."""
_MANY = 900_000
"""Lines, values or levels: fewer than the limits of texts."""

Grown = Callable[[bytes], bytes]


def _hole(path: Path) -> None:
    """The file, then 16 GiB that no disk holds."""
    os.truncate(path, 1 << 34)


def _rows(data: bytes) -> bytes:
    """The last line as many times as there may be lines."""
    *_, last = data.strip().split(b"\n")
    return data + (last + b"\n") * min(_MANY, _LARGE // len(last))


def _line(data: bytes) -> bytes:
    """A last line that never ends."""
    *head, last = data.strip().split(b"\n")
    return b"\n".join([*head, last * (_LARGE // len(last))])


def _word(data: bytes) -> bytes:
    """The longest word or number is as long as the file may be."""
    longest = max(re.findall(rb"\w+", data), key=len, default=b"")
    return data.replace(longest, longest * (_LARGE // (len(longest) or 1)), 1)


def _digits(data: bytes) -> bytes:
    """A number of a million digits."""
    return re.sub(rb"(?<![\w.\"])\d+(?![\w.\"])", b"9" * _MANY, data, count=1)


def _depth(data: bytes) -> bytes:
    """A value in lists within lists."""
    nested = b"[" * _MANY + b"]" * _MANY
    return re.sub(rb"(?<=[:=] )[\d.]+", nested, data, count=1)


def _blocks(data: bytes) -> bytes:
    """Objects within objects."""
    return data + b'{ "a": ' * _MANY + b"1" + b"}" * _MANY


def _list(data: bytes) -> bytes:
    """A list of half a million numbers in the place of one."""
    numbers = b",".join(b"%d" % number for number in range(_MANY // 2))
    return re.sub(rb"(?<=[:=] )[\d.]+", b"[" + numbers + b"]", data, count=1)


def _keys(data: bytes) -> bytes:
    """Different keys, or columns, more than anyone has."""
    if data.lstrip().startswith(b"{"):
        keys = b",".join(b'"k%d": %d' % (number, number) for number in range(_MANY))
        return data.replace(b"{", b"{" + keys + b",", 1)
    if b" = " in data:
        return data + b"".join(b"\nk%d = %d" % (number, number) for number in range(_MANY // 4))
    head, newline, rest = data.partition(b"\n")
    return head + b"".join(b",k%d" % number for number in range(_MANY)) + newline + rest


def _shape(data: bytes) -> bytes:
    """An array of numpy whose header says that it is larger than any memory."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1000000, 1000000), }\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + data


def _pixels(data: bytes) -> bytes:
    """A picture of a billion pixels, all alike."""
    side = 30_000
    rows = zlib.compressobj(9)
    chunk = rows.compress(bytes(1 + 3 * side) * 8) * 1 + rows.flush()
    size = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", size), (b"IDAT", chunk), (b"IEND", b""))
    return data[:8] + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in parts
    )


def _message(data: bytes) -> bytes:
    """A protobuf message in which everything is there again and again."""
    fields = _fields(data)
    return _joined(fields) + _joined([fields[-1]]) * (_LARGE // (len(_joined([fields[-1]])) or 1))


def _nodes(data: bytes) -> bytes:
    """A network in which each node is there as often as a file holds."""
    import onnx

    model = onnx.load_from_string(data)
    nodes = [*model.graph.node]
    model.graph.node.extend(nodes * (_MANY // len(nodes)))
    return model.SerializeToString()


def _described(change: Callable[[dict[str, Any]], None]) -> Grown:
    """A .dlc file of which the description is changed, sealed again."""

    def grown(data: bytes) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.dlc"
            path.write_bytes(data)
            parts = opened(path)
            change(parts.model)
            sealed(parts, path)
            return path.read_bytes()

    return grown


def _layers(model: dict[str, Any]) -> None:
    """Each layer, and each tensor, as often as a file holds; with names of their own."""
    times = _MANY // 100
    for kind in ("layers", "tensors"):
        model[kind] += [
            {**item, "name": f"{item['name']}_{number}"}
            for number in range(times)
            for item in model[kind]
        ]


def _sizes(model: dict[str, Any]) -> None:
    """Tensors that no memory holds."""
    for tensor in model["tensors"]:
        tensor["shape"] = [size * 10**6 for size in tensor["shape"]]


def _axes(model: dict[str, Any]) -> None:
    """A tensor of more axes than numpy has."""
    for tensor in model["tensors"][:1]:
        tensor["shape"] = [1] * _MANY


_DLC = {"layers": _layers, "sizes": _sizes, "axes": _axes}


def _table(column: str | None) -> Grown:
    def grown(data: bytes) -> bytes:
        """A sweep's rows again and again, with a long text of its own in the `column`, if any."""
        import pyarrow
        from pyarrow import parquet

        table = parquet.read_table(io.BytesIO(data))
        count = _MANY if column is None else _MANY // 9
        table = table.take(pyarrow.array(np.arange(count) % table.num_rows))
        if column is not None:
            at = table.column_names.index(column)
            texts = pyarrow.array([f"{'x' * 5000}{number}" for number in range(count)])
            table = table.set_column(at, table.field(at), texts)
        out = io.BytesIO()
        parquet.write_table(table, out, compression="zstd")
        return out.getvalue()

    return grown


_TEXT = {"rows": _rows, "line": _line, "word": _word}
_TREE = {**_TEXT, "digits": _digits, "depth": _depth, "blocks": _blocks, "list": _list}
WAYS: Mapping[str, Mapping[str, Grown]] = {
    ".txt": _TEXT,
    ".log": _TEXT,
    ".csv": {**_TEXT, "keys": _keys, "digits": _digits},
    ".json": {**_TREE, "keys": _keys},
    ".toml": {**_TREE, "keys": _keys},
    ".prototxt": _TREE,
    ".parquet": {
        **{"rows": _table(None), "networks": _table("network"), "reasons": _table("refusal")}
    },
    ".onnx": {"message": _message, "nodes": _nodes},
    ".caffemodel": {"message": _message},
    ".npy": {"shape": _shape},
    ".png": {"pixels": _pixels},
    ".dlc": {name: _described(change) for name, change in _DLC.items()},
    ".bin": {name: _described(change) for name, change in _DLC.items()},
    ".raw": {},
}
"""How a file grows, by the end of its name; and every one has a hole."""


ASKED = {("input list", "rows")}
"""A reader, and a way that asks for as much work as it says: a line is an inference."""


@cache
def cases() -> tuple[tuple[Reader, str, str], ...]:
    """Every way of one file of each format that a reader has."""

    def listed() -> Iterator[tuple[Reader, str, str]]:
        for reader in READERS:
            files = {Path(file).suffix: file for file in reader.files}
            for suffix, file in files.items() if reader is not OPTIONS else ():
                ways = ("hole", *WAYS[suffix])
                yield from ((reader, file, way) for way in ways if (reader.name, way) not in ASKED)

    return tuple(listed())


def judged(number: int, folder: Path) -> str:
    """What the command of a case says of its file, as `tests.fuzz.commands.judged`."""
    reader, file, way = cases()[number % len(cases())]

    def damage(rng: random.Random, path: Path) -> None:
        if way == "hole":
            _hole(path)
        else:
            path.write_bytes(WAYS[path.suffix][way](path.read_bytes()))

    lines = lines_of(reader, file)[number // len(cases()) % len(lines_of(reader, file))]
    case = Case(number, dataclasses.replace(reader, damage=damage), file, lines)
    return f"{description(case)} | {way} | {ended(case, folder, damaged=True)}"
