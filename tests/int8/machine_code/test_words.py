"""Words own what they point to, and nobody else hands out an address.

Memory begins and ends cache lines.
"""

import ast
import weakref
from pathlib import Path

import numpy as np
import pytest

import hexsim.int8
from hexsim.int8.machine_code.words import (
    Slot,
    Words,
    aligned,
    bytes_reached,
    expanded,
    seen,
    whole_lines,
)

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
    assert len(files) > 30
    addresses = {p.name: _addresses(ast.parse(p.read_text("utf-8"))) for p in files}
    assert {name: lines for name, lines in addresses.items() if lines} == {}


def test_memory_begins_a_cache_line() -> None:
    assert [aligned(size).ctypes.data % 64 for size in (1, 63, 1000)] == [0] * 3
    assert [aligned(size).size for size in (0, 1, 1000)] == [0, 1, 1000]


def test_sizes_are_rounded_up() -> None:
    assert [whole_lines(size) for size in (0, 1, 64, 65)] == [0, 64, 64, 128]
