"""Records reach kernels field by field, from steps, programs and calls alike."""

import re
from typing import Any, NamedTuple

import numpy as np
import pytest

from hexsim.int8.commands import KernelCommandList
from hexsim.int8.machine_code import record as records
from hexsim.int8.machine_code.jit import kernel
from hexsim.int8.machine_code.record import argument_types, fields_of, record, with_fields
from hexsim.int8.machine_code.words import Words
from hexsim.int8.step import FIRST, LAST, Scratch, Step


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
