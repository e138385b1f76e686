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

from hexsim.errors import HexsimError, InvalidDataError, unknown
from hexsim.texts.text import read_text
from hexsim.texts.trees import parse_toml

Tree = dict[str, Any]

_SHARED = "shared.toml"
_LISTED = "listed.toml"


def chip_name(text: str) -> str:
    """Return the name of the chip that a user calls `text`, or `text` if there is none."""
    names = CHIPS.names()
    if text.endswith(".toml") or text in names:
        return text
    plain = re.sub(r"[\s_-]", "", text.lower()).replace("+", "plus").replace("snapdragon", "sd")
    for name in (plain, f"sd{plain}"):
        if name in names:
            return name
    for name, tree in CHIPS.that_mention(plain):
        for number in tree["part_numbers"]:
            if plain in (number, number.lstrip(ascii_lowercase)):
                return name
    return text


class DatasheetTexts:
    """The shipped datasheets of one kind, in one directory, as trees of tables and values."""

    def __init__(self, kind: str, directory: Path) -> None:
        self._kind = kind
        self._directory = directory

    def names(self) -> tuple[str, ...]:
        """List the built-in names; the datasheets with a file of their own are not read."""
        files = self._directory.glob("*.toml")
        own = (file.stem for file in files if file.name not in (_SHARED, _LISTED))
        return tuple(sorted((*own, *self._listed)))

    def located(self, name_or_path: str | Path) -> tuple[Tree, str]:
        """Return a datasheet as it is written, and the place of its text.

        Raises HexsimError for an unknown name, and for a file that is no TOML.
        """
        text = str(name_or_path)
        if text.endswith(".toml"):
            path = Path(name_or_path)
        elif text in self._listed:
            tree = {"name": text, **copied(self._listed[text])}
            return tree, f"{self._directory / _LISTED}, [{text}]"
        elif text in self.names():
            path = self._directory / f"{text}.toml"
        else:
            raise unknown(self._kind, text, self.names())
        return _read(path), str(path)

    def tables_of(self, name: str) -> Tree:
        """Return the tables of a shipped datasheet, without shared constants."""
        if name not in self.names():
            raise unknown(self._kind, name, self.names())
        return {key: node for key, node in self.located(name)[0].items() if isinstance(node, dict)}

    @cached_property
    def shared(self) -> Tree:
        """The constants that are common to all; callers copy what they change."""
        return self._read_if_any(_SHARED)

    def that_mention(self, word: str) -> Iterator[tuple[str, Tree]]:
        """Yield the names and trees of the datasheets whose texts contain `word`, by name."""
        for name in self.names():
            if name in self._listed:
                yield name, self._listed[name]
            elif word in (self._directory / f"{name}.toml").read_text("utf-8"):
                yield name, self.located(name)[0]

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
    try:
        text = read_text(path, "datasheet", "give a TOML file")
        return parse_toml(text, str(path), quantities=True)
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None


CHIPS = DatasheetTexts("chip", Path(__file__).parent / "chips")
STACKS = DatasheetTexts("stack", Path(__file__).parent / "stacks")
