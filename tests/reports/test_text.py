"""Plain text tables and quantities."""

import pytest

from hexsim.reports.text import number, quantity, table


def test_columns_line_up() -> None:
    text = table(("name", "us"), [("conv1", "7.25"), ("x", "1000.00")])
    assert text.splitlines() == [
        "name        us",
        "-----  -------",
        "conv1     7.25",
        "x      1000.00",
    ]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (825e6, "Hz", "825 MHz"),
        (3.5e9, "B/s", "3.5 GB/s"),
        (2**18, "B", "256 KiB"),
        (250e-9, "s", "250 ns"),
        (0, "s", "0 s"),
        (4, "1", "4"),
        (1024, "MAC/clk", "1024 MAC/clk"),
    ],
)
def test_quantities(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_a_count_has_its_noun() -> None:
    assert [number(count, "point") for count in (0, 1, 2)] == ["0 points", "1 point", "2 points"]
