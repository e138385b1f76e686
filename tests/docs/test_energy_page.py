"""The example of docs/concepts/energy.md is what the program prints today."""

from __future__ import annotations

from benchmarks.energy_page import PAGE, page


def test_the_example_is_what_the_command_prints() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m benchmarks.energy_page --write"
