"""docs/results/guides.md: statements of the guides, and the command that shows each of them here.

python -m benchmarks.guides [--write]

guides.toml has the statements. Every command runs, in this process and in a folder with
examples/digits; one that prints something else ends the program with an error, so that no
statement falls back unseen. The slow tests do the same, which CI runs (tests/benchmarks).
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import hexsim
from benchmarks.pages import RESULTS, ROOT, print_or_write, with_block
from hexsim.cli import main as hexsim_main
from hexsim.graph.ir import Network
from hexsim.quantization.encodings import Encoding
from hexsim.snpe import main as snpe_main
from hexsim.texts.trees import parse_toml

PAGE = RESULTS / "guides.md"
STATEMENTS = Path(__file__).with_suffix(".toml")
CHIP = "sd855"
"""The chip of the tools, which have no option for it."""

_CONFIG = {
    "Name": "digits",
    "HostRootPath": "bench",
    "HostResultsDir": "bench/results",
    "DevicePath": "/data/local/tmp/snpebm",
    "Devices": ["sd835"],
    "Runs": 2,
    "Model": {
        "Name": "digits",
        "Dlc": "digits.dlc",
        "InputList": "prepared/raw_list.txt",
        "Data": ["prepared"],
    },
    "Runtimes": ["CPU", "DSP"],
    "Measurements": ["timing"],
}
"""A config file of snpe_bench.py."""


@dataclass(frozen=True)
class Statement:
    """A statement, what shows it, and whether it holds."""

    text: str
    run: str = ""
    shows: tuple[str, ...] = field(default=())
    code: int = 0
    verdict: str = "holds"
    why: str = ""


def statements() -> dict[str, list[Statement]]:
    """Return the statements by chapter."""
    tree: Any = parse_toml(STATEMENTS.read_text("utf-8"), str(STATEMENTS), as_written=True)
    return {
        guide["title"]: [
            Statement(**{**each, "shows": tuple(each.get("shows", ()))}) for each in guide["says"]
        ]
        for guide in tree["guide"]
    }


def _prepare() -> None:
    """Make the files that statements read, in the current folder."""
    _said("hexsim prepare photos --model digits.onnx --std 255")
    np.zeros(10, np.float32).tofile("wrong.raw")
    Path("wrong.txt").write_text("wrong.raw\n", encoding="utf-8")
    ranges = {"conv0_act": [{"bitwidth": 8, "min": 0.0, "max": 4.0}]}
    encodings = {"activation_encodings": ranges, "param_encodings": {}}
    Path("ranges.json").write_text(json.dumps(encodings), encoding="utf-8")
    Path("config.json").write_text(json.dumps(_CONFIG), encoding="utf-8")
    hexsim.save(_plain(), "plain.dlc")
    np.ones((1, 8, 8, 1), np.float32).tofile("plain.raw")
    Path("plain.txt").write_text("plain.raw\n", encoding="utf-8")


def _plain() -> hexsim.Model:
    """Return the example network as if it never had batch norms."""
    network: Network = hexsim.load("digits.onnx").network
    layers = [
        layer.replace(moments=None) if getattr(layer, "moments", None) else layer
        for layer in network.layers
    ]
    return hexsim.Model(network.with_layers(layers))


def _example() -> str:
    """Return the worked examples of the quantiser: codes and ranges."""
    first = Encoding.from_range(-1.8, 0.5)
    codes = first.quantize(np.array([-1.8, -1.0, 0.0, 0.5], np.float32)).tolist()
    second = Encoding.from_range(-5.1, 5.1)
    zero = int(second.quantize(np.zeros(1, np.float32))[0])
    others = [Encoding.from_range(*ends) for ends in ((5.0, 10.0), (-20.0, -6.0))]
    return "\n".join(
        [
            f"{codes} {first.min:.6f} {first.max:.6f}",
            f"{zero} {second.min:.4g} {second.max:.4g}",
            *(f"({other.min:.1f}, {other.max:.1f})" for other in others),
        ]
    )


@cache
def _said(line: str) -> tuple[int, str]:
    """Return the exit code of a command, and all that it prints."""
    words = shlex.split(line)
    if words[0] == "python":
        return 0, _example()
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
                if code != each.code or absent:
                    missing.append(f"{each.run}: code {code}, without {absent}")
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
