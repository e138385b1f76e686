"""Every layer that Hexagon NN was seen to compute takes the packets that the library takes."""

import pytest

from benchmarks.packets import PAGE, Row, page_with, rows, table

RENEW = "python -m benchmarks.packets --write"
ROWS = list(rows())
OUTSIDE = {("resize 28x28x128:56x56", "V65")}
"""The library for V65 computes it in C, pixel by pixel."""


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.architecture} {row.layer}" for row in ROWS])
def test_a_layer_takes_the_packets_of_the_library(row: Row) -> None:
    assert row.is_within != ((row.layer, row.architecture) in OUTSIDE)


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    assert page_with(table()) == PAGE.read_text(encoding="utf-8"), RENEW
