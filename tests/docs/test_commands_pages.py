"""The pages on commands say what the program takes today, and the index lists them."""

from __future__ import annotations

import re

import pytest

from benchmarks.commands_page import FOLDER, INDEX, commands, index, pages
from hexsim.cli import main
from hexsim.cli._help import examples_of
from hexsim.cli._parameters import parameters

RENEW = "python -m benchmarks.commands_page --write"


def test_the_pages_are_those_of_the_program() -> None:
    written = {page.name: page.read_text(encoding="utf-8") for page in FOLDER.glob("*.md")}
    assert written == pages(), RENEW


def test_the_index_lists_them() -> None:
    assert INDEX.read_text(encoding="utf-8") == index(), RENEW


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", commands())
def test_a_page_has_the_options_that_the_help_has(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["hexsim", *name.split(), "--help"])
    monkeypatch.setenv("COLUMNS", str(width))
    with pytest.raises(SystemExit):
        main()
    page = pages()[f"{name.replace(' ', '-')}.md"]
    text = capsys.readouterr().out
    assert set(re.findall(r"^  (--[\w-]+)", text, re.MULTILINE)) - {"--help"} == set(
        re.findall(r"^\| `(--[\w-]+)", page, re.MULTILINE)
    )
    for line in text.splitlines():
        assert len(line) <= width or line.startswith("  hexsim") or len(line.split()) == 1
    for parameter in parameters(commands()[name]):
        assert parameter.help in " ".join(text.split()), "no word is broken"


def test_examples_are_made_of_options_that_there_are() -> None:
    for name, command in commands().items():
        known = {name for parameter in parameters(command) for name in parameter.names}
        for example in examples_of(command):
            words = example.split()
            assert words[1] in (name, "mobilenet_v2", "model.onnx")
            assert {word for word in words if word.startswith("--")} <= known, example
