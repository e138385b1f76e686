"""The listings of docs/concepts/kernel-code.md and the table of docs/results are up to date."""

import pytest

from benchmarks import kernel_rows
from benchmarks.kernel_code_page import PAGE, page


@pytest.mark.toolchain
def test_the_listings_are_what_the_commands_print():
    remedy = "python -m benchmarks.kernel_code_page --write"
    assert PAGE.read_text(encoding="utf-8") == page(), remedy


@pytest.mark.toolchain
def test_the_measured_loops_are_up_to_date():
    text = kernel_rows.PAGE.read_text(encoding="utf-8")
    assert text == kernel_rows.page(), "python -m benchmarks.kernel_rows --write"


@pytest.mark.toolchain
def test_loops_in_l2_and_streams_from_ddr_are_near_the_phone():
    """All but the smallest and largest: the reasons for the others are on the page."""
    core, compiled = kernel_rows.core(), kernel_rows.vector_loops()
    for row in kernel_rows.rows():
        if row.operation == "vrmpy" and 512 <= row.vectors <= 8192:
            us, _ = kernel_rows.predicted(row, compiled[row.operation], core)
            assert 0.75 < us / row.us < 1.2, row


@pytest.mark.toolchain
def test_loops_of_attention_are_near_the_phone_on_all_threads():
    rows = kernel_rows.attention_table().splitlines()[2:]
    ratios = [float(row.split(" | ")[4]) for row in rows]
    assert len(ratios) == 16
    assert all(0.8 < ratio < 1.25 for ratio in ratios)
