"""docs/results/guides.md: statements of the guides, and the command that shows each of them here.

python -m benchmarks.guides [--write]

guides.toml has the statements, and the files that they need. Every command runs, in this process
and in a folder with examples/digits; one that prints something else ends the program with an
error, so that no statement falls back unseen. The slow tests do the same, which CI runs
(tests/benchmarks).
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import onnx.parser

import hexsim
from benchmarks.pages import RESULTS, ROOT, print_or_write, with_block
from hexsim.cli import main as hexsim_main
from hexsim.graph.ir import Network
from hexsim.snpe import main as snpe_main
from hexsim.texts.trees import parse_toml

PAGE = RESULTS / "guides.md"
STATEMENTS = Path(__file__).with_suffix(".toml")
CHIP = "sd855"
"""The chip of the tools, which have no option for it."""


@dataclass(frozen=True)
class Statement:
    """A statement, what shows it, and whether it holds."""

    text: str
    run: str = ""
    shows: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    code: int = 0
    verdict: str = "holds"
    why: str = ""


def _tree() -> dict[str, Any]:
    tree: dict[str, Any] = parse_toml(
        STATEMENTS.read_text("utf-8"), str(STATEMENTS), as_written=True
    )
    return tree


def statements() -> dict[str, list[Statement]]:
    """Return the statements by chapter."""
    return {
        guide["title"]: [
            Statement(**{name: _fixed(value) for name, value in each.items()})
            for each in guide["says"]
        ]
        for guide in _tree()["guide"]
    }


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _prepare() -> None:
    """Make the files that statements read, in the current folder."""
    _said("hexsim prepare photos --model digits.onnx --std 255")
    np.zeros(10, np.float32).tofile("wrong.raw")
    np.ones((1, 8, 8, 1), np.float32).tofile("plain.raw")
    np.linspace(-1, 1, 1 * 8 * 8 * 3, dtype=np.float32).tofile("picture.raw")
    for name, text in _tree()["files"].items():
        if name.endswith(".onnx"):
            onnx.save(onnx.parser.parse_model(text), name)
        else:
            Path(name).write_text(text, encoding="utf-8")
    hexsim.save(_plain(), "plain.dlc")


def _plain() -> hexsim.Model:
    """Return the example network as if it never had batch norms."""
    network: Network = hexsim.load("digits.onnx").network
    layers = [
        layer.replace(moments=None) if getattr(layer, "moments", None) else layer
        for layer in network.layers
    ]
    return hexsim.Model(network.with_layers(layers))


@cache
def _said(line: str) -> tuple[int, str]:
    """Return the exit code of a command, and all that it prints."""
    words = shlex.split(line)
    if words[0] == "python":
        return _python(words[-1])
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", words),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            (hexsim_main if words[0] == "hexsim" else snpe_main)()
            code = 0
        except SystemExit as done:
            code = int(done.code or 0)
    return code, printed.getvalue()


def _python(lines: str) -> tuple[int, str]:
    """Run the lines of `python -c`, here, where everything is imported already."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(lines, {})
        except Exception as fault:
            return 1, repr(fault)
    return 0, printed.getvalue()


def failures(chapters: dict[str, list[Statement]]) -> list[str]:
    """Run everything; return what is not shown, a line for each."""
    missing: list[str] = []
    names = {"HEXSIM_CHIP": CHIP, "COLUMNS": "200"}
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, names):
        shutil.copytree(ROOT / "examples" / "digits", folder, dirs_exist_ok=True)
        with contextlib.chdir(folder):
            _said.cache_clear()
            _prepare()
            for each in (each for chapter in chapters.values() for each in chapter if each.run):
                code, text = _said(each.run)
                flat = " ".join(text.split())
                absent = [part for part in each.shows if " ".join(part.split()) not in flat]
                present = [part for part in each.lacks if " ".join(part.split()) in flat]
                if code != each.code or absent or present:
                    missing.append(f"{each.run}: code {code}, without {absent}, with {present}")
    return missing


def page() -> str:
    """Return the page with the table of every chapter."""
    chapters = statements()
    every = [each for chapter in chapters.values() for each in chapter]
    counts = Counter(each.verdict for each in every)
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    lines = [f"{len(every)} statements: {total}.", ""]
    for title, chapter in chapters.items():
        lines += [f"### {title}", "", "| statement | here | shown by |", "| --- | --- | --- |"]
        for each in chapter:
            here = f"{each.verdict}: {each.why}" if each.why else each.verdict
            command = f"`{each.run}`" if each.run else ""
            lines.append(f"| {each.text} | {here} | {command} |")
        lines.append("")
    return with_block(PAGE.read_text(encoding="utf-8"), "statements", "\n".join(lines))


def checked_page() -> str:
    """Return the page; SystemExit with all that is not shown any more."""
    if missing := failures(statements()):
        raise SystemExit("\n".join(missing))
    return page()


if __name__ == "__main__":
    print_or_write(PAGE, checked_page)
