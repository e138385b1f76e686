"""The text of `--help`: examples first, options under headings, and no word is ever broken."""

import inspect
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hexsim.cli._parameters import parameters

_NARROWEST, _WIDEST = 40, 120
_MOST_LEFT = 30
"""Characters of the left column; a longer name has its text below it."""
_HELP = ("--help", "Print this and end.")

Row = tuple[str, str]


def command_help(path: str, command: Callable[..., Any]) -> str:
    """Return the help of a command that is called by the words of `path`."""
    taken = parameters(command)
    arguments = [parameter for parameter in taken if not parameter.is_option]
    words = [path, *(argument.in_call for argument in arguments), "[OPTIONS]"]
    sections = {"Arguments": [(argument.names[0], argument.remarks) for argument in arguments]}
    options = [parameter for parameter in taken if parameter.is_option]
    for option in sorted(options, key=lambda option: not option.is_required):
        left = " ".join(filter(None, (", ".join(option.names), option.placeholder)))
        sections.setdefault(option.heading, []).append((left, option.remarks))
    sections["Pictures"] = sections.pop("Pictures", [])  # details, after the inputs themselves
    sections["Help"] = [_HELP]
    return help_text(" ".join(words), inspect.cleandoc(command.__doc__ or ""), sections, command)


def help_text(
    usage: str,
    about: str,
    sections: dict[str, list[Row]],
    command: Callable[..., Any] | None = None,
) -> str:
    """Return a text as wide as the terminal; `sections` are rows of two columns by heading."""
    width = min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)
    blocks = [_wrapped(f"Usage: {usage}", width, hanging="    ")]
    blocks += (_wrapped(" ".join(text.split()), width) for text in about.split("\n\n"))
    if examples := examples_of(command):
        blocks.append("\n".join(["Examples:", *(f"  {line}" for line in examples)]))
    for heading, rows in sections.items():
        if rows:
            blocks.append("\n".join([f"{heading}:", *_rows(rows, width)]))
    return "\n\n".join(blocks) + "\n"


def examples_of(command: Callable[..., Any] | None) -> tuple[str, ...]:
    """Return the calls that the file of a command gives as examples."""
    module = sys.modules.get(command.__module__) if command is not None else None
    examples: dict[str, tuple[str, ...]] = getattr(module, "EXAMPLES", {})
    return examples.get(getattr(command, "__name__", ""), ())


def _rows(rows: Iterable[Row], width: int) -> Iterator[str]:
    rows = list(rows)
    column = 4 + max((len(left) for left, _ in rows if len(left) <= _MOST_LEFT), default=0)
    column = min(column, width // 2)
    for left, text in rows:
        margin = " " * column
        lines = _wrapped(text, width, margin, margin).splitlines() or [""]
        if len(left) + 4 > column:
            yield f"  {left}"
            yield from lines
        else:
            yield f"  {left}".ljust(column) + lines[0].strip()
            yield from lines[1:]


def _wrapped(text: str, width: int, first: str = "", hanging: str = "") -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
