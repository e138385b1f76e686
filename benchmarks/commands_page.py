"""What each command takes: docs/reference/commands/, a page per command.

python -m benchmarks.commands_page [--write]

The pages are made from the program itself, so that they cannot say what it does not do. With
--write they are written, pages of commands that are gone are removed, and docs/index.md lists
what there is.
"""

from __future__ import annotations

import argparse
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from benchmarks.pages import DOCS, REFERENCE, with_block
from hexsim.cli._files import INPUT_LIST, MODEL, PICTURES, ReadOption, Writes
from hexsim.cli.app import app

FOLDER = REFERENCE / "commands"
INDEX = DOCS / "index.md"

Command = Callable[..., None]

_PLAIN = {str: "text", int: "integer", float: "number", bool: "flag"}
_READ = {MODEL: "model", PICTURES: "folder, read", INPUT_LIST: "list, read"}
_WIDTH = 108
"""Characters of a line of prose."""


@dataclass(frozen=True)
class Parameter:
    """An option or argument of a command, in the words of its page."""

    names: tuple[str, ...]
    kind: str
    default: str
    help: str
    is_option: bool

    @property
    def is_required(self) -> bool:
        """Whether the command does not run without it."""
        return self.default == "required"

    @property
    def in_call(self) -> str:
        """How it stands in the line that calls the command."""
        if self.is_option:
            return f"{self.names[0]} {self.kind.split(',')[0].upper()}"
        return self.names[0] if self.is_required else f"[{self.names[0]}]"

    @property
    def row(self) -> str:
        """Its row in a table."""
        names = ", ".join(f"`{name}`" for name in self.names)
        return f"| {names} | {self.kind} | {self.default} | {self.help} |"


def commands() -> dict[str, Command]:
    """The commands by their words, such as `bench` or `chips show`, in the order of the help."""
    return dict(_within(app, ()))


def _within(group: typer.Typer, words: tuple[str, ...]) -> Iterator[tuple[str, Command]]:
    for command in group.registered_commands:
        if command.callback is not None and not command.hidden:
            name = command.name or command.callback.__name__.replace("_", "-")
            yield " ".join((*words, name)), command.callback
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            yield from _within(inner.typer_instance, (*words, str(inner.name)))


def parameters(command: Command) -> list[Parameter]:
    """What a command takes: what must be given first, then as declared."""
    hints = get_type_hints(command, include_extras=True)
    found = []
    for name, one in inspect.signature(command).parameters.items():
        kind, *metadata = get_args(hints.get(name, one.annotation))
        (info,) = (m for m in metadata if isinstance(m, ArgumentInfo | OptionInfo))
        if not info.hidden:
            found.append(_parameter(one, kind, info, metadata))
    return sorted(found, key=lambda parameter: not parameter.is_required)


def _parameter(
    one: inspect.Parameter, kind: Any, info: ArgumentInfo | OptionInfo, metadata: list[Any]
) -> Parameter:
    return Parameter(
        _names(one.name, info, several=get_origin(kind) is list),
        _kind(kind, info, next((m for m in metadata if isinstance(m, ReadOption | Writes)), None)),
        _default(one.default),
        " ".join((info.help or "").split()).replace("|", "\\|").replace("<", "&lt;"),
        isinstance(info, OptionInfo),
    )


def _names(name: str, info: ArgumentInfo | OptionInfo, several: bool) -> tuple[str, ...]:
    if isinstance(info, ArgumentInfo):
        return ((info.metavar or name.upper()).strip("[]") + ("..." if several else ""),)
    declared = [info.default, *(info.param_decls or ())]
    given = [part for text in declared if isinstance(text, str) for part in text.split("/")]
    names = [text for text in given if text.startswith("-")]
    return (*sorted(names, key=lambda text: not text.startswith("--")),) or (
        f"--{name.replace('_', '-')}",
    )


def _kind(kind: Any, info: ArgumentInfo | OptionInfo, mark: ReadOption | Writes | None) -> str:
    """What may be given: a mark of files says more than a type."""
    if isinstance(mark, Writes):
        return "folder, written" if mark.folder else "file, written"
    if mark is not None and mark in _READ:
        return _READ[mark]
    bare = _without_none_and_list(kind)
    if get_origin(bare) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(bare))
    if bare in _PLAIN:
        return _PLAIN[bare] + _bounds(info.min, info.max)
    return "file, read"


def _bounds(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        return f", {low:g} or more"
    return f", {high:g} or less" if low is None else f", {low:g} to {high:g}"


def _without_none_and_list(kind: Any) -> Any:
    if get_origin(kind) in (types.UnionType, Union):
        (kind,) = (get_arg for get_arg in get_args(kind) if get_arg is not type(None))
    return get_args(kind)[0] if get_origin(kind) is list else kind


def _default(value: Any) -> str:
    if value in (inspect.Parameter.empty, ...):
        return "required"
    if value is None or value is False or value in ("", [], ()):
        return ""
    return "on" if value is True else f"`{value}`"


def pages() -> dict[str, str]:
    """The text of each page by the name of its file."""
    return {_file(name): _page(name, command) for name, command in commands().items()}


def _file(name: str) -> str:
    return f"{name.replace(' ', '-')}.md"


def _page(name: str, command: Command) -> str:
    taken = parameters(command)
    arguments = [one for one in taken if not one.is_option]
    options = [one for one in taken if one.is_option]
    words = [one.in_call for one in taken if one.is_required or not one.is_option]
    rest = ["[OPTIONS]"] if any(not option.is_required for option in options) else []
    lines = [f"# hexsim {name}", "", *_prose(command)]
    lines += ["```", " ".join(("hexsim", name, *words, *rest)), "```"]
    lines += _table("Arguments", "argument", arguments) + _table("Options", "option", options)
    return "\n".join(lines) + "\n"


def _prose(command: Command) -> Iterator[str]:
    """What the help says above its tables."""
    for text in inspect.cleandoc(command.__doc__ or "").split("\n\n"):
        yield from textwrap.wrap(" ".join(text.split()), _WIDTH)
        yield ""


def _table(title: str, first: str, taken: list[Parameter]) -> list[str]:
    if not taken:
        return []
    head = [f"| {first} | takes | default | what it is |", "| --- | --- | --- | --- |"]
    return ["", f"## {title}", "", *head, *(one.row for one in taken)]


def listed() -> str:
    """A line of docs/index.md for each page: its command, and the first sentence of its help."""
    return "\n".join(
        f"- [{name}](reference/commands/{_file(name)}): {_first(command)}"
        for name, command in commands().items()
    )


def _first(command: Command) -> str:
    sentence = " ".join((command.__doc__ or "").split("\n\n")[0].split()).split(". ")[0]
    return f"{sentence[:1].lower()}{sentence[1:].rstrip('.')}."


def index() -> str:
    """docs/index.md with today's list of commands."""
    return with_block(INDEX.read_text(encoding="utf-8"), "commands", listed())


def main() -> None:
    """Print the pages, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    made = pages()
    if not parser.parse_args().write:
        print("\n".join(made.values()))
        return
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    INDEX.write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
