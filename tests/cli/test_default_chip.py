"""One chip stands for all where none is named: in commands, functions and tools alike."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import hexsim
from hexsim.cli.app import commands
from hexsim.runtimes import DEFAULT_CHIP
from hexsim.snpe import session
from hexsim.snpe.tool import TOOLS

REQUIRED = inspect.Parameter.empty
NO_CHIP = ("", None)
"""Defaults of what needs no chip."""


def defaults(of: Callable[..., Any]) -> list[object]:
    parameters = inspect.signature(of).parameters
    return [parameters[name].default for name in ("chip", "chips") if name in parameters]


def test_every_command_has_the_one_chip_or_none() -> None:
    known = {name: chips for name, command in commands().items() if (chips := defaults(command))}
    assert all(chips in ([DEFAULT_CHIP], [REQUIRED], [""], [None]) for chips in known.values())
    without = {name for name, (chip,) in known.items() if chip in NO_CHIP}
    assert without == {"compare", "info", "quantize", "view"}
    assert {name for name, (chip,) in known.items() if chip is REQUIRED} == {"calibrate"}


def test_every_function_has_the_one_chip_or_none() -> None:
    functions = [getattr(hexsim, name) for name in hexsim.__all__ if name.islower()]
    called = [each for each in functions if inspect.isfunction(each)]
    known = {each.__name__: chips for each in called if (chips := defaults(each))}
    assert all(chips in ([DEFAULT_CHIP], [REQUIRED], [None]) for chips in known.values())
    assert {name for name, (chip,) in known.items() if chip is None} == {"info"}
    for command, function in {"bench": "benchmark", "llm": "simulate_llm"}.items():
        assert defaults(commands()[command]) == known[function]
    for name in commands().keys() & known.keys():
        assert defaults(commands()[name]) == known[name]


def test_the_tools_of_snpe_have_it_too() -> None:
    assert not [name for name, tool in TOOLS.items() if "--chip" in tool.always]
    assert defaults(session.is_runtime_available) == defaults(session.Session) == [DEFAULT_CHIP]


@pytest.mark.parametrize(
    ("line", "has_it"),
    [
        ("always-on ds_cnn_s --every 20", "sd865 has it, and sd855"),
        ("kernel conv --shape 8x8x32:32:3x3", "sd865 has it, and sd855"),
        ("profile ds_cnn_s --runtime aip", "sd865 has it, and sd855, sd765"),
        ("quantize ds_cnn_s --seeded-inputs --enable-hta", "sd865 has it, and sd855, sd765"),
        ("info ds_cnn_s --memory dsp", "sd865 has it, and sd855"),
    ],
)
def test_what_it_cannot_do_names_chips_that_can(
    line: str, has_it: str, refused: Callable[[str], str]
) -> None:
    assert f"--chip {has_it}" in refused(line)
