from __future__ import annotations

from hexsim.datasheets import stacks
from hexsim.datasheets.measurements.calibration import calibration
from hexsim.reports.datasheets.table import datasheet_table
from hexsim.reports.text import page, quantity


def line(text: str, path: str) -> str:
    (wanted,) = [row for row in text.splitlines() if row.startswith(f"{path} ")]
    return wanted


def test_every_constant_shows_its_owner_and_how_far_it_is_swept() -> None:
    stack = stacks.load("snpe-1.23")
    text = datasheet_table(stack)
    for path, constant in stack.quantities():
        row = line(text, path)
        assert constant.confidence in row
        assert constant.source in row
        assert (" .. " in row) == (constant.confidence in ("assumed", "calibrated"))
    assert "500 ps/element .. 10 ns/element" in line(text, "application.copy_s_per_element")


def test_names_are_whole_on_a_narrow_page() -> None:
    """They are what users write into their own files."""
    stack = stacks.load("snpe-1.30")
    with page(80):
        text = datasheet_table(stack)
    assert all(line(text, path) for path, _ in stack.quantities())
    assert max(map(len, text.splitlines())) <= 80


def test_a_calibrated_constant_shows_what_the_fit_leaves_possible() -> None:
    path = "entry.input_conversion.clk_per_element"
    index = calibration().find("snpe-1.23", path)
    assert index is not None
    low, high = (quantity(v, "clk/element") for v in calibration().constants[index].interval)
    assert f"{low} .. {high}" in line(datasheet_table(stacks.load("snpe-1.23")), path)


def test_a_constant_of_the_callers_is_not_swept() -> None:
    stack = stacks.load("snpe-1.23").with_value("dispatch.node_clk", 1e4)
    assert " .. " not in line(datasheet_table(stack), "dispatch.node_clk")
