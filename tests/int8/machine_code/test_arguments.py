"""Words own what they point to, and nobody else hands out an address.

Memory begins and ends cache lines.

Records reach kernels field by field, from steps, programs and calls alike.
"""

import ast
import re
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import hexsim.int8
from hexsim.int8.commands import KernelCommandList
from hexsim.int8.machine_code import arguments as records
from hexsim.int8.machine_code.arguments import (
    Slot,
    Words,
    aligned,
    argument_types,
    bytes_reached,
    expanded,
    fields_of,
    record,
    seen,
    whole_lines,
    with_fields,
)
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.step import FIRST, LAST, Scratch, Step

COMPILED = {"kernel", "template", "inlined", "subroutine"}
"""Decorators of functions that become machine code."""


def test_an_array_stands_for_its_address_and_stays() -> None:
    array = np.arange(7)
    words = Words([[3, array], [np.int32(-4), array[2:]]])
    assert words.numbers.tolist() == [[3, array.ctypes.data], [-4, array.ctypes.data + 16]]
    assert words.numbers.ctypes.data % 64 == 0
    alive = weakref.ref(array)
    del array
    assert alive() is not None
    del words
    assert alive() is None


def test_words_own_what_the_words_they_point_to_own() -> None:
    array = np.arange(7, dtype=np.uint8)
    inner = Words([[array, 7]])
    outer = Words([[1, 2, inner]])
    assert outer.numbers[0, 2] == inner.numbers.ctypes.data
    assert [owned is other for owned, other in zip(
        outer.owned(), (outer.numbers, inner.numbers, array), strict=True
    )] == [True] * 3  # fmt: skip
    alive = weakref.ref(array)
    del array, inner
    assert alive() is not None
    assert bytes_reached(outer) == 8 * 3 + 8 * 2 + 7


def test_a_slot_owns_one_array_after_another() -> None:
    slot = Slot()
    words = Words([[slot]])
    first, second = np.zeros(3), np.zeros(5)
    alive = weakref.ref(first)
    slot.hold(first)
    assert slot.numbers.tolist() == [first.ctypes.data]
    del first
    assert alive() is not None
    slot.hold(second)
    assert alive() is None
    assert [array.size for array in words.owned()] == [1, 1, 5]
    slot.release()
    assert slot.numbers.tolist() == [0]
    assert [array.size for array in words.owned()] == [1, 1]


@pytest.mark.parametrize("pointing", [True, False])
def test_a_machine_argument_is_expanded(pointing: bool) -> None:
    array = np.arange(12, dtype=np.int64).reshape(3, 4)
    argument = Words(array.tolist()) if pointing else array
    numbers = Words([expanded(argument)]).numbers[0]
    assert numbers.tolist() == [0, 0, 12, 8, seen(argument).ctypes.data, 3, 4, 32, 8]
    assert expanded(-5) == [-5]


def _addresses(tree: ast.Module) -> list[int]:
    """Lines on which an address is taken, but in what becomes machine code."""
    compiled = {
        inner
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef)
        and any(
            ast.unparse(decorator).split("(")[0] in COMPILED for decorator in outer.decorator_list
        )
        for inner in ast.walk(outer)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("ctypes", "__array_interface__")
        and node not in compiled
    ]


def test_addresses_are_found() -> None:
    bare = "a = x.ctypes.data\n@kernel('void()')\ndef f():\n    y.ctypes.data\n"
    assert _addresses(ast.parse(bare)) == [1]


def test_no_address_is_taken_outside_machine_code() -> None:
    package = Path(hexsim.int8.__file__).parent
    files = [p for p in package.rglob("*.py") if "machine_code" not in p.parts]
    assert {"runner.py", "dispatch.py", "requantize.py"} <= {file.name for file in files}
    addresses = {p.name: _addresses(ast.parse(p.read_text("utf-8"))) for p in files}
    assert {name: lines for name, lines in addresses.items() if lines} == {}


def test_memory_begins_a_cache_line() -> None:
    assert [aligned(size).ctypes.data % 64 for size in (1, 63, 1000)] == [0] * 3
    assert [aligned(size).size for size in (0, 1, 1000)] == [0, 1, 1000]


def test_sizes_are_rounded_up() -> None:
    assert [whole_lines(size) for size in (0, 1, 64, 65)] == [0, 64, 64, 128]


@record("int64,int64")
class RowsOfTest(NamedTuple):
    first: Any
    last: Any


@record("int32,uint8[:,::1],RowsOfTest,int64[:,::1],int32[::1]")
class MixtureOfTest(NamedTuple):
    add: int
    codes: Any
    rows: RowsOfTest
    table: Any
    scratch: Any


@kernel("void(int64[::1],MixtureOfTest,int32)")
def _mix(out, mixture, factor):
    mixture.scratch[:] = factor
    for row in range(mixture.rows.first, mixture.rows.last):
        for code in mixture.codes[row]:
            out[row] += np.int64(code) * mixture.scratch[1]
        out[row] += mixture.add + mixture.table[row, 1]


def _step(out):
    codes = np.arange(12, dtype=np.uint8).reshape(4, 3)
    table = Words([[codes, 100 * row] for row in range(4)])
    mixture = MixtureOfTest(-7, codes, RowsOfTest(FIRST, LAST), table, Scratch(2, np.int32))
    return Step(_mix, (out, mixture, 5), 4)


EXPECTED = [5 * (9 * row + 3) - 7 + 100 * row for row in range(4)]


@pytest.mark.parametrize("threads", [0, 1, 2])
def test_every_field_reaches_the_kernel(threads: int) -> None:
    out = np.zeros(4, np.int64)
    step = _step(out)
    if threads:
        KernelCommandList([step], threads).run()
    else:
        step.piece(2, 4), step.piece(0, 2)
    assert out.tolist() == EXPECTED
    assert step.bytes == 32 + 12 + (8 * 8 + 4 * 12)


def test_a_wrong_field_never_reaches_machine_code() -> None:
    step = _step(np.zeros(4, np.int64))
    mixture = step.arguments[1]._replace(codes=np.zeros((4, 3), np.int8))
    with pytest.raises(TypeError, match=re.escape("argument 2 is no array(uint8, 2d, C)")):
        KernelCommandList([Step(_mix, (step.arguments[0], mixture, 5), 4)], 1)
    with pytest.raises(TypeError, match="takes 8 arguments, not 7"):
        KernelCommandList([Step(_mix, step.arguments[:2], 4)], 1)


def test_fields_are_listed_and_changed_one_by_one() -> None:
    nested = MixtureOfTest(1, 2, RowsOfTest(3, 4), 5, 6)
    assert list(fields_of((nested, 7))) == [1, 2, 3, 4, 5, 6, 7]
    changed = with_fields(nested, lambda field: 10 * field)
    assert changed == MixtureOfTest(10, 20, RowsOfTest(30, 40), 50, 60)
    assert type(changed.rows) is RowsOfTest
    kinds = argument_types("int32[:,::1], RowsOfTest,float64")
    assert [str(field) for field in fields_of(kinds)] == [
        "array(int32, 2d, C)", "int64", "int64", "float64"
    ]  # fmt: skip


def test_a_record_says_what_its_fields_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_known", dict(records._known))
    with pytest.raises(TypeError, match="record RowsOfTest has 2 fields, not 1"):
        record("int64")(RowsOfTest)

    class RowsOfAnother(NamedTuple):
        number: int

    RowsOfAnother.__name__, RowsOfAnother.__module__ = "RowsOfTest", "elsewhere"
    with pytest.raises(TypeError, match="there are two records RowsOfTest"):
        record("int64")(RowsOfAnother)
