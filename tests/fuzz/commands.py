"""One case of a damaged file, by the command that reads it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

from benchmarks.conformity_commands import run
from tests.fuzz.readers import Case, case
from tests.fuzz.workspace import make

WORKSPACE = "HEXSIM_FUZZ_WORKSPACE"
"""Variable with the folder of good files, for a process that shall not make its own."""


class FaultError(Exception):
    """A command ended with a fault; the text is its traceback."""


@cache
def workspace() -> Path:
    """The folder of good files, made when it is first asked for and kept for the process."""
    if WORKSPACE in os.environ:
        return Path(os.environ[WORKSPACE])
    folder = Path(_KEPT.name)
    with contextlib.chdir(folder):
        make(folder)
    return folder


_KEPT = tempfile.TemporaryDirectory(prefix="fuzz-workspace-")


def judged(number: int, folder: Path) -> str:
    """What the command of a case says of its file: reader, lines, and the sentence that refused it.

    Raises FaultError for exit code 70, and for a refusal that is no sentence.
    """
    return f"{told(case(number))} | {ended(case(number), folder, damaged=True)}"


def told(case: Case) -> str:
    """Return reader, file and lines of a case."""
    return f"{case.reader.name} | {case.file} | {' && '.join(case.lines)}"


def ended(case: Case, folder: Path, *, damaged: bool) -> str:
    """Return the sentence by which the file of a case was refused, or nothing for an answer."""
    place = folder / "work"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(workspace(), place)
    with contextlib.chdir(place):
        if damaged:
            case.damage(place)
        for line in case.lines:
            effect, said = run(line)
            if effect == "failed":
                raise FaultError(f"{told(case)}\n{said}")
            if not said.isprintable() or len(said) > 4000:
                raise FaultError(f"{told(case)}\nnot a sentence: {said[:4000]!r}")
            if effect == "refused":
                return re.sub(rf"{re.escape(str(place))}/?", "", said)
    return ""
