"""One case of a damaged file, by the command that reads it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

from benchmarks.conformity_commands import run
from tests.fuzz.process import Judged
from tests.fuzz.readers import Case, case
from tests.fuzz.workspace import make

WORKSPACE = "HEXSIM_FUZZ_WORKSPACE"
"""Variable with the folder of good files, for a process that shall not make its own."""


_ENOUGH = 12
"""Cases of a reader that tell whether its files reach it."""


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


def judged(number: int, folder: Path, reader: str = "") -> str:
    """What the command of a case says of its file: reader, lines, and the sentence that refused it.

    Raises FaultError for exit code 70, and for a refusal that is no sentence.
    """
    chosen = case(number, reader)
    return f"{description(chosen)} | {ended(chosen, folder, damaged=True)}"


def description(case: Case) -> str:
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
            before = _files(place)
            effect, said = run(line)
            if effect == "failed":
                raise FaultError(f"{description(case)}\n{said}")
            if not said.isprintable() or len(said) > 4000:
                raise FaultError(f"{description(case)}\nnot a sentence: {said[:4000]!r}")
            new = {path for path in _files(place) if path not in before and ".parts" not in path}
            if effect == "refused" and new:
                raise FaultError(f"{description(case)}\nleaves {new} and says {said}")
            if effect == "refused":
                return re.sub(rf"{re.escape(str(place))}/?", "", said)
    return ""


def _files(folder: Path) -> set[str]:
    """The files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


class Outcomes:
    """What became of cases, by their readers."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.refused: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, case: Judged) -> None:
        """Count a case."""
        reader, *_, sentence = case.said.split(" | ") if " | " in case.said else ("", case.said)
        if case.fault:
            return
        if sentence:
            self.refused[reader][re.sub(r"'[^']*'|[\d.]+", "", sentence)] += 1
        else:
            self.answered[reader] += 1

    def unreached(self) -> list[str]:
        """Return the readers that answered no case, refused none, or refused most in one way."""
        faults = []
        for reader in sorted({*self.answered, *self.refused}):
            answered, sentences = self.answered[reader], self.refused[reader]
            count = answered + sentences.total()
            most, times = max(sentences.items(), key=lambda item: item[1], default=("", 0))
            if count >= _ENOUGH and (not answered or not times or times > count / 2):
                faults.append(
                    f"{reader}: of {count} cases {answered} answered, {times} as '{most}'"
                )
        return faults

    def __str__(self) -> str:
        return "\n".join(
            f"  {reader}: {self.answered[reader]} answered, {self.refused[reader].total()} refused"
            for reader in sorted({*self.answered, *self.refused})
        )
