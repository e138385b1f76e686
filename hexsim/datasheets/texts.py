"""The TOML files of datasheets of one kind, parsed but not validated.

A name is looked up here without the schemas of the datasheets, whose import takes long; so a
mistyped name is reported at once.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from hexsim.errors import HexsimError, nearest, unknown
from hexsim.texts.text import read_text
from hexsim.texts.trees import parse_toml

Tree = dict[str, Any]

_SHARED = "shared.toml"
_LISTED = "listed.toml"
_ABSENT = "absent.toml"


def chip_name(text: str) -> str:
    """Return the name of the chip that a user calls `text`, a path as it is.

    People say "8 Elite", "Snapdragon 8+ Gen 1 5G" or "SM8550-AB". Raises HexsimError for other
    words, with the nearest names, and for a chip without a datasheet, with the one to take instead.
    """
    if text.endswith(".toml") or text in CHIPS:
        return text
    called = _plain(text)
    heads = dict(CHIPS.heads())
    named = {spelling: name for name in heads for spelling in _spellings(name, heads[name])}
    for spelling in (called, f"sd{called}", _BIN.sub("", called)):
        for name, head in CHIPS.absent.items():
            if spelling in _spellings(name, head):
                reason, instead = head["reason"], head["instead"]
                raise HexsimError(f"{head['title']} is not simulated: {reason}; give {instead}")
        if spelling in named:
            return named[spelling]
    compared = f"sd{called}" if called[:1].isdigit() else called
    aliased = {
        said: f"{name} ({said})" for name in heads for said in heads[name].get("aliases", ())
    }
    raise HexsimError(f"unknown chip '{text}'; {nearest(compared, named, named | aliased)}")


_BIN = re.compile(r"(?<=\d)(a[a-d]|p)$")
"""Letters after a part number that tell bins of one silicon apart: SM8550-AB, SM8550P."""
_SAID = re.compile(r"qualcomm|dragonwing|mobile platform|processor|\b5g\b|[^a-z0-9+]")
"""What of a chip's name in speech does not tell it from others."""


def _plain(text: str) -> str:
    """Return a name in the letters that tell chips apart: "sd8plusgen1"."""
    return _SAID.sub("", text.lower()).replace("+", "plus").replace("snapdragon", "sd")


def _spellings(name: str, head: Tree) -> Iterator[str]:
    """Yield what a chip is called: its names, and its part numbers with and without letters."""
    yield name
    yield from head.get("aliases", ())
    for number in head.get("part_numbers", ()):
        yield number
        yield number.lstrip(ascii_lowercase)


class DatasheetTexts:
    """The shipped datasheets of one kind, in one directory, as trees of tables and values."""

    def __init__(self, kind: str, directory: Path) -> None:
        self._kind = kind
        self._directory = directory

    def __contains__(self, name: str) -> bool:
        return name in self._files or name in self._listed

    def names(self) -> tuple[str, ...]:
        """List the built-in names; the datasheets with a file of their own are not read."""
        return tuple(sorted((*self._files, *self._listed)))

    def located(self, name_or_path: str | Path) -> tuple[Tree, str]:
        """Return a datasheet as it is written, and the place of its text.

        Raises HexsimError for an unknown name, and for a file that is no TOML.
        """
        text = str(name_or_path)
        if text.endswith(".toml"):
            path = Path(name_or_path)
        elif text in self._files:
            path = self._files[text]
        elif text in self._listed:
            tree = {"name": text, **copied(self._listed[text])}
            return tree, f"{self._directory / _LISTED}, [{text}]"
        else:
            raise unknown(self._kind, text, self.names())
        return _read(path), str(path)

    def tables_of(self, name: str) -> Tree:
        """Return the tables of a shipped datasheet, without shared constants."""
        if name not in self:
            raise unknown(self._kind, name, self.names())
        return {key: node for key, node in self.located(name)[0].items() if isinstance(node, dict)}

    @cached_property
    def shared(self) -> Tree:
        """The constants that are common to all; callers copy what they change."""
        return self._read_if_any(_SHARED)

    def heads(self) -> Iterator[tuple[str, Tree]]:
        """Yield the names of all datasheets with what stands above their tables."""
        for name in self.names():
            if name in self._listed:
                yield name, self._listed[name]
            else:
                text = self._files[name].read_text("utf-8")
                yield name, parse_toml(text.partition("\n[")[0], name)

    @cached_property
    def absent(self) -> Tree:
        """What users name although it has no datasheet, each with the reason."""
        return self._read_if_any(_ABSENT)

    @cached_property
    def _files(self) -> dict[str, Path]:
        """The files of datasheets that have one of their own; the others are read to find one."""
        special = (_SHARED, _LISTED, _ABSENT)
        files = self._directory.glob("*.toml")
        return {file.stem: file for file in files if file.name not in special}

    @cached_property
    def _listed(self) -> Tree:
        return self._read_if_any(_LISTED)

    def _read_if_any(self, file_name: str) -> Tree:
        path = self._directory / file_name
        return _read(path) if path.exists() else {}


def copied(tree: Tree) -> Tree:
    """Return a copy with tables of its own; values are shared."""
    return {key: copied(node) if isinstance(node, dict) else node for key, node in tree.items()}


def _read(path: Path) -> Tree:
    return parse_toml(read_text(path, "datasheet", "give a TOML file"), str(path), quantities=True)


CHIPS = DatasheetTexts("chip", Path(__file__).parent / "chips")
STACKS = DatasheetTexts("stack", Path(__file__).parent / "stacks")
