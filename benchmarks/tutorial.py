"""docs/tutorial.md, followed as it stands: its commands, and what they print.

python -m benchmarks.tutorial                        with hexsim as it is in the checkout
python -m benchmarks.tutorial --environment VENV     as it is installed there
python -m benchmarks.tutorial --write                renews what the page says is printed

The page begins in a folder with nothing but examples/digits. `...` stands there for lines that
are left out, and they stay left out: with --write a line that is kept becomes the line of today
with the same words.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.pages import DOCS, ROOT
from hexsim.files.atomic_write import write_text
from tests.recipes.page import PROGRAMS, assert_prints, blocks, run, steps, write

PAGE = DOCS / "tutorial.md"
FOLDER = ROOT / "examples" / "digits"
REST = "..."


@dataclass(frozen=True)
class Step:
    """A command of the page, what the page says it prints, and what it prints."""

    command: str
    expected: list[str]
    printed: str


def follow(folder: Path, environment: Path | None = None) -> Iterator[Step]:
    """Do what the page says in an empty folder; AssertionError if a command fails."""
    programs, sources = dict(PROGRAMS), ROOT
    if environment is not None:
        programs = {name: [str(environment / "bin" / name)] for name in PROGRAMS}
        sources = folder
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.file:
            write(block, folder / block.file)
        elif block.language == "console":
            for command, expected in steps(block.text):
                yield Step(command, expected, run(command, folder, programs, sources))


def renewed(text: str, followed: list[Step]) -> str:
    """Return the text of the page with what its commands print today."""
    for step in followed:
        if step.expected not in ([], [REST]):
            old, new = ("\n".join(lines) for lines in (step.expected, kept(step)))
            assert text.count(old) == 1, f"$ {step.command}: what it prints stands twice"
            text = text.replace(old, new)
    return text


def kept(step: Step) -> list[str]:
    """The lines of today that have the words of the lines that the page shows."""
    today, lines, at = step.printed.splitlines(), [], 0
    for line in step.expected:
        if line.strip() == REST:
            lines.append(line)
            continue
        index = next((n for n in range(at, len(today)) if _words(today[n]) == _words(line)), None)
        assert index is not None, f"$ {step.command}\nno longer has a line as\n{line}"
        lines.append(today[index].rstrip())
        at = index + 1
    return lines


def _words(line: str) -> list[str]:
    """By what a line is known again when its figures have changed."""
    words = re.findall(r"[^\W\d]\w+|--+", line)[:2] or [line.strip()[:1]]
    return ["--" if word.startswith("--") else word for word in words]


def main() -> None:
    """Follow the page and compare, or renew it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        followed = [*follow(Path(folder), given.environment)]
    if given.write:
        write_text(PAGE, renewed(PAGE.read_text(encoding="utf-8"), followed))
        return
    for step in followed:
        assert_prints(step.expected, step.printed, step.command)
    sys.stdout.write(f"{len(followed)} commands of {PAGE.name} print what it says\n")


if __name__ == "__main__":
    main()
