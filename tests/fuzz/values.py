"""Damage to values, in files whose form stays right: what a schema admits and arithmetic does not.

Numbers become extreme, or close to what they were, and words become other words. Every change
takes a random generator and the bytes of a file, and returns other bytes.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
from collections.abc import Callable
from typing import Any

import pyarrow
from pyarrow import parquet

from tests.fuzz.containers import TREE_CHANGES, Parts

Change = Callable[[random.Random, bytes], bytes]

WHOLE = (
    *(0, 1, -1, 2, 3, 7, 64, 100, 255, 1000, 4096, 65536, 10**6, 10**9, 2**31 - 1, 2**31, 2**32),
    *(2**53 + 1, 10**18, 2**63 - 1, 2**63, 2**64, 10**30, 2**127, -(2**31), -(2**63)),
)
REALS = (
    *(
        "0.0",
        "-0.0",
        "0.5",
        "1e-3",
        "1e-9",
        "1e-20",
        "1e-38",
        "1e-45",
        "1e-160",
        "1e-200",
        "1e-308",
    ),
    *("1e-320", "5e-324", "1e3", "1e9", "1e15", "1e20", "1e30", "3.4e38", "1e39", "1e154", "1e160"),
    *("1e200", "1e300", "1e308", "1.7e308", "-1e308", "-1e-320", "-1.5", "nan", "inf", "1e999"),
)
WORDS = (
    *("", "x", " ", "0", "-1", "1e999", "NaN", "null", "None", "true", "=1+1", "a,b", "a;b", "a=b"),
    *(
        "../..",
        "/",
        ".",
        "/dev/zero",
        "q.dlc",
        "list.txt",
        "x" * 300,
        "ü",
        "\u202e",
        "#",
        "%",
        "%s",
    ),
    *("{0}", "$HOME", "(2,)f4", "f4,f4", "O", "V8", "float32", "int8", "uint4", "float16", "bool"),
    *("M8[s]", "<f4", ">f4", "U3", "complex64", "fullyconnected3_out", "convolution0", "in", "y"),
    *("dsp", "cpu", "htp", "aip", "sd855", "sd8gen2", "burst", "linear", "log", "1x3x8x8", "0x0"),
)
_NUMBER = re.compile(rb"(?<![\w.\-+])[-+]?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w.])")
_QUOTED = re.compile(rb'"[^"\n]*"')
_CELL = re.compile(rb"[^,;:=\s]+")


def _number(rng: random.Random, old: bytes) -> bytes:
    """A number, of the same kind most times: near it, of another size, or extreme."""
    chosen = rng.random()
    with contextlib.suppress(ValueError, OverflowError):
        value = float(old.replace(b"_", b""))
        if chosen < 0.15:
            near = (value + 1, value - 1, value * 2, value / 2, -value, value * 10)
            return _written(rng.choice(near), whole=b"." not in old and b"e" not in old)
        if chosen < 0.35:
            return _written(value * 10.0 ** _exponent(rng), whole=False)
    if b"." not in old and b"e" not in old.lower() and chosen < 0.8:
        return str(rng.choice(WHOLE)).encode()
    return rng.choice(REALS).encode()


def _exponent(rng: random.Random) -> int:
    """Of ten: within the sizes of physical quantities in half of the cases."""
    return rng.randint(-320, 300) if rng.random() < 0.5 else rng.randint(-18, 18)


def _written(value: float, *, whole: bool) -> bytes:
    return str(int(value) if whole else value).encode()


def numbers(rng: random.Random, data: bytes) -> bytes:
    """Other numbers in a few places."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = _replaced(rng, data, _NUMBER, _number)
    return data


def _replaced(
    rng: random.Random,
    data: bytes,
    pattern: re.Pattern[bytes],
    other: Callable[[random.Random, bytes], bytes],
) -> bytes:
    places = [match.span() for match in pattern.finditer(data)]
    if not places:
        return data
    start, end = rng.choice(places)
    return data[:start] + other(rng, data[start:end]) + data[end:]


def line_of_numbers(rng: random.Random, data: bytes) -> bytes:
    """All numbers of a line become one, or all larger by one factor, or those of all such lines.

    So a constant stays between its bounds, and a column of CSV is as large as its last value.
    """
    lines = data.split(b"\n")
    at = rng.choice([at for at, line in enumerate(lines) if _NUMBER.search(line)] or [0])
    same, factor = _number(rng, b"1.5"), 10.0 ** _exponent(rng)

    def scaled(match: re.Match[bytes]) -> bytes:
        return str(float(match[0].replace(b"_", b"")) * factor).encode()

    by: Any = scaled if rng.random() < 0.5 else (lambda match: same)
    for number in range(at, len(lines)) if rng.random() < 0.1 else (at,):
        lines[number] = _NUMBER.sub(by, lines[number])
    return b"\n".join(lines)


def words(rng: random.Random, data: bytes) -> bytes:
    """Another word in a place: one of the file, or a strange one."""
    pattern = _QUOTED if rng.random() < 0.5 and _QUOTED.search(data) else _CELL
    others = pattern.findall(data) or [b""]

    def other(rng: random.Random, old: bytes) -> bytes:
        if rng.random() < 0.4:
            return rng.choice(others)
        word = rng.choice(WORDS)
        return (json.dumps(word) if pattern is _QUOTED else word).encode()

    return _replaced(rng, data, pattern, other)


def tree(rng: random.Random, data: bytes) -> bytes:
    """The value, key or order of something in JSON."""
    parts = Parts(json.loads(data), b"", bytearray())
    for _ in range(rng.choice((1, 1, 1, 2))):
        rng.choice(TREE_CHANGES)(rng, parts)
    return json.dumps(parts.model, indent=1).encode()


def columns(rng: random.Random, data: bytes) -> bytes:
    """Values of a column of Parquet, its type, its name or that of the space in its metadata."""
    table = parquet.read_table(io.BytesIO(data))
    for _ in range(rng.choice((1, 1, 2))):
        table = rng.choice(_TABLE_CHANGES)(rng, table)
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


def _cells(rng: random.Random, table: pyarrow.Table) -> pyarrow.Table:
    """Some or all values of a column, of its type: among them nulls."""
    at = rng.randrange(table.num_columns)
    field = table.field(at)
    values = table.column(at).to_pylist()
    some = range(len(values)) if rng.random() < 0.3 else [rng.randrange(len(values) or 1)]
    same = _cell(rng, field.type)
    for place in some if values else ():
        values[place] = same if rng.random() < 0.5 else _cell(rng, field.type)
    return table.set_column(at, field, pyarrow.array(values, field.type))


def _cell(rng: random.Random, kind: pyarrow.DataType) -> Any:
    if rng.random() < 0.2:
        return None
    if pyarrow.types.is_string(kind):
        return rng.choice(WORDS)
    if pyarrow.types.is_floating(kind):
        return float(rng.choice(REALS))
    return rng.choice([value for value in WHOLE if -(2**63) <= value < 2**63])


def _type(rng: random.Random, table: pyarrow.Table) -> pyarrow.Table:
    at = rng.randrange(table.num_columns)
    kind = rng.choice((pyarrow.string(), pyarrow.float64(), pyarrow.int64(), pyarrow.float16()))
    made = pyarrow.array([_cell(rng, kind) for _ in range(table.num_rows)], kind)
    return table.set_column(at, pyarrow.field(table.column_names[at], kind), made)


def _name(rng: random.Random, table: pyarrow.Table) -> pyarrow.Table:
    names = list(table.column_names)
    names[rng.randrange(len(names))] = rng.choice((rng.choice(names), *WORDS))
    return table.rename_columns(names)


def _rows(rng: random.Random, table: pyarrow.Table) -> pyarrow.Table:
    count = rng.choice((0, 1, 2, table.num_rows))
    places = [rng.randrange(table.num_rows or 1) for _ in range(count if table.num_rows else 0)]
    return table.take(pyarrow.array(places, pyarrow.int64()))


def _space(rng: random.Random, table: pyarrow.Table) -> pyarrow.Table:
    metadata = dict(table.schema.metadata or {})
    for key, value in metadata.items():
        with contextlib.suppress(ValueError):
            metadata[key] = rng.choice((tree, numbers, words))(rng, value)
    return table.replace_schema_metadata(metadata)


_TABLE_CHANGES = (_cells, _cells, _cells, _cells, _type, _name, _rows, _space)
