"""`hexsim profile`: the longest layers with sums by type, or all of them."""

from collections.abc import Callable
from typing import Any


def test_the_longest_layers_and_sums_by_type(command: Callable[[str], Any]) -> None:
    line = "profile squeezenet1_1 --chip sd855 --runtime cpu"
    every, short = command(f"{line} --all"), command(line)
    assert (every.code, short.code) == (0, 0)
    assert "30 other layers" in short.out
    assert "30 other layers" not in every.out
    assert "(outside of layers)" in short.out
    assert len(short.out.splitlines()) < len(every.out.splitlines())
