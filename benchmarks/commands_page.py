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
from collections.abc import Callable, Iterator

from benchmarks.pages import DOCS, REFERENCE, with_block
from hexsim.cli._help import examples_of
from hexsim.cli._parameters import Parameter, parameters
from hexsim.cli.app import commands

FOLDER = REFERENCE / "commands"
INDEX = DOCS / "index.md"

Command = Callable[..., None]

_WIDTH = 108
"""Characters of a line of prose."""


def pages() -> dict[str, str]:
    """The text of each page by the name of its file."""
    return {_file(name): _page(name, command) for name, command in commands().items()}


def _file(name: str) -> str:
    return f"{name.replace(' ', '-')}.md"


def _page(name: str, command: Command) -> str:
    taken = parameters(command)
    arguments = [parameter for parameter in taken if not parameter.is_option]
    options = [parameter for parameter in taken if parameter.is_option]
    words = [
        parameter.in_call for parameter in taken if parameter.is_required or not parameter.is_option
    ]
    rest = ["[OPTIONS]"] if any(not option.is_required for option in options) else []
    lines = [f"# hexsim {name}", "", *_prose(command)]
    lines += ["```", " ".join(("hexsim", name, *words, *rest)), "```"]
    if examples := examples_of(command):
        lines += ["", "Examples:", "", "```", *examples, "```"]
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
    return ["", f"## {title}", "", *head, *map(_row, taken)]


def _row(parameter: Parameter) -> str:
    names = ", ".join(f"`{name}`" for name in parameter.names)
    is_word = parameter.default in ("", "required", "on")
    default = parameter.default if is_word else f"`{parameter.default}`"
    text = parameter.help.replace("|", "\\|").replace("<", "&lt;")
    return f"| {names} | {parameter.kind} | {default} | {text} |"


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
