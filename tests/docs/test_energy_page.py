"""The example of docs/concepts/energy.md is what the program prints today."""

from __future__ import annotations

import hexsim
from benchmarks.energy_page import PAGE, page
from hexsim.texts.figures import figure


def test_the_example_is_what_the_command_prints() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m benchmarks.energy_page --write"


def test_the_figures_of_the_text_are_those_of_today() -> None:
    text = PAGE.read_text(encoding="utf-8")
    case = hexsim.profile("mobilenet_v1", "sd835", runtime="dsp")
    spent = case.energy
    ends = f"{figure(spent.mj_low)} and {figure(spent.mj_high)}"
    assert f"the output ends with {figure(spent.mj)} mJ, between {ends}." in text
    assert f"awake for {case.forward_propagate_us / 1e3:.2f} ms" in text
    assert f"The product is {figure(spent.parts_mj['clock tree'].mj)} mJ" in text
