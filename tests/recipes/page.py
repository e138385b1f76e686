"""A recipe followed literally: the files of its page in a copy of hexsim, its commands run there.

A block whose info string names a file is that file, or, if the block is a `diff`, a change of it:
what a hunk removes and keeps stands exactly once in the file. A block `console` holds commands
behind `$` and what they print; `...` stands for anything in a line, and alone for any lines.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pages import DOCS, ROOT

_BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COPIED = ("hexsim", "models", "tests", "pyproject.toml")
PROGRAMS = {
    "python": [sys.executable],
    "hexsim": [sys.executable, "-m", "hexsim"],
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, the file it names (or ""), and its text."""

    language: str
    file: str
    text: str


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page that have a language, in order."""
    return [Block(*match) for match in _BLOCK.findall(text)]


def follow(recipe: str, copy: Path) -> None:
    """Do what docs/recipes/`recipe`.md says in the folder `copy`, and compare what it prints."""
    for name in _COPIED:
        source, target = ROOT / name, copy / name
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy(source, target)
    commands = 0
    for block in blocks((DOCS / "recipes" / f"{recipe}.md").read_text(encoding="utf-8")):
        if block.file:
            write(block, copy / block.file)
        elif block.language == "console":
            for command, expected in steps(block.text):
                assert_prints(expected, run(command, copy), command)
                commands += 1
    assert commands, f"the recipe of {recipe} runs nothing"


def write(block: Block, file: Path) -> None:
    """Make the file of a block, or change it."""
    if block.language != "diff":
        assert not file.exists(), f"{file.name} exists; show the change as a diff"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
        return
    text = file.read_text(encoding="utf-8")
    for hunk in re.split(r"^@@.*\n", block.text, flags=re.MULTILINE):
        lines = hunk.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if not line.startswith("+"))
        new = "".join(line[1:] for line in lines if not line.startswith("-"))
        assert not old or text.count(old) == 1, f"not once in {file.name}:\n{old}"
        text = text.replace(old, new) if old else text + new
    file.write_text(text, encoding="utf-8")


def steps(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a console block, each with the lines that it shall print."""
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, *expected = part.splitlines()
        yield command, expected


def run(
    command: str,
    folder: Path,
    programs: Mapping[str, Sequence[str]] = PROGRAMS,
    sources: Path | None = None,
) -> str:
    """Run a command of a page in a folder; AssertionError if it fails.

    `programs` says what starts the first word; Python's modules are those of `sources`, or else
    of the folder.
    """
    program, *arguments = shlex.split(command)
    path = os.pathsep.join(filter(None, (str(sources or folder), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [*programs[program], *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": path,
            "HEXSIM_CACHE_DIR": str(folder / "cache"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    return done.stdout


def assert_prints(expected: list[str], printed: str, command: str) -> None:
    """Check that `printed` has the lines of the page, but for spaces and what `...` stands for."""
    lines = "".join(line.strip() + "\n" for line in printed.splitlines())
    match = re.fullmatch("".join(map(_pattern, expected)), lines)
    assert match or not expected, f"$ {command}\n{printed}\nis not\n" + "\n".join(expected)


def _pattern(line: str) -> str:
    """What a line of the page matches: lines without spaces at their ends."""
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    words = (".*" if word == "..." else re.escape(word) for word in line.split())
    return r"[^\S\n]+".join(words) + r"\n"
