"""Runs commands as typed, in this process and in a folder of their own."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hexsim.cli import main

ASSUMED = "is given; hexsim chips list names the others"
"""The line about a chip that is assumed, which most tests do not name; test_start reads it."""


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[str], Done]:
    """A function that runs one command line in `tmp_path`."""
    monkeypatch.chdir(tmp_path)

    def run(line: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["hexsim", *shlex.split(line)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        remarks = [line for line in captured.err.splitlines(True) if ASSUMED not in line]
        return Done(int(ended.value.code or 0), captured.out, "".join(remarks))

    return run


@pytest.fixture
def refused(command: Callable[[str], Done], tmp_path: Path) -> Callable[[str], str]:
    """A function that runs a command line that must fail, and returns its one sentence."""

    def run(line: str) -> str:
        before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        done = command(line)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("hexsim: ")
        assert done.err.count("\n") == 1
        after = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        assert after == before, "nothing is lost, nothing half written"
        return done.err

    return run
