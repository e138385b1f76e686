from __future__ import annotations

import tomllib

import pytest

from benchmarks.restate import restated

TEXT = """\
[a]
x = { value = 1.5, unit = "s", source = "value = here", confidence = "assumed", low = 1, high = 2 }

[a.b]
x = { value = 18_000, unit = "clk", source = "s", confidence = "documented" }
xy = { value = 3, unit = "clk", source = "s", confidence = "documented" }
"""


@pytest.mark.parametrize("value", [19_400.0, 5.0, 0.205, 66.6e-6, 3e-9, 2.5e-12, 1.28])
def test_one_value_changes_and_reads_back(value: float) -> None:
    text = restated(TEXT, "a.b.x", value)
    assert text is not None
    before, after = tomllib.loads(TEXT), tomllib.loads(text)
    assert after["a"]["b"]["x"].pop("value") == pytest.approx(value, rel=1e-12)
    before["a"]["b"]["x"].pop("value")
    assert after == before


def test_numbers_are_written_as_the_files_have_them() -> None:
    for value, written in ((19_400.0, "19_400"), (66.6e-6, "66.6e-6"), (0.205, "0.205")):
        text = restated(TEXT, "a.x", value)
        assert text is not None
        assert f"value = {written}, unit" in text


def test_a_file_without_the_constant_is_left_alone() -> None:
    assert restated(TEXT, "a.y", 1.0) is None
    assert restated(TEXT, "b.x", 1.0) is None
