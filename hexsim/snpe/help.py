"""The help of a tool: all its options and their effects here."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from hexsim import __version__
from hexsim.snpe.option import Effect, Ignored, Option, RefusedOption, Tool

_WIDTH = 79
_LONGEST_FORM = 157
"""Characters of a form that stays on one line; longer ones are broken after commas."""


def version(stack: str | None = None) -> str:
    """Return the line with the versions of the simulated software and of hexsim."""
    if stack is None:
        return f"hexsim v{__version__}"
    is_snpe = stack.startswith("snpe-")
    software = f"SNPE v{stack.removeprefix('snpe-')}" if is_snpe else stack
    return f"{software} simulated by hexsim v{__version__}"


def help_text(tool: Tool, general: Sequence[Option]) -> str:
    """Return usage, summary and every option with what it does."""
    lines = [f"usage: {tool.name} [options]", "", *_wrapped(tool.summary, "")]
    for note in tool.notes:
        lines += ["", *_wrapped(note, "")]
    needed = [option for option in tool.options if option.is_required]
    others = [option for option in tool.options if not option.is_required]
    for title, options in (("required:", needed), ("options:", (*others, *general))):
        if options:
            lines += ["", title]
            for option in options:
                lines += [*_form_lines(option), *_wrapped(option_text(option), " " * 8)]
    return "\n".join(lines)


def option_text(option: Option) -> str:
    """Return what an option does, and its effect here if that differs from SNPE."""
    variable = f" Or {option.variable} in the environment." if option.variable else ""
    return " ".join((option.help + variable, *dict.fromkeys(_differences(option))))


def _differences(option: Option) -> Iterator[str]:
    if not isinstance(option.effect, Mapping):
        yield from _difference(option.effect)
        return
    for effect in dict.fromkeys(option.effect.values()):
        values = [value for value, own in option.effect.items() if own == effect]
        for text in _difference(effect):
            yield f"{', '.join(values)}: {text}"


def _difference(effect: Effect) -> Iterator[str]:
    if isinstance(effect, Ignored):
        yield f"Changes nothing: {effect.why}."
    if isinstance(effect, RefusedOption):
        yield f"Refused: {effect.why}."


def _form_lines(option: Option) -> list[str]:
    if len(option.form) <= _LONGEST_FORM:
        return [f"  {option.form}"]
    lines = textwrap.wrap(option.form.replace(",", ", "), _WIDTH - 6)
    return [f"{'  ' if line is lines[0] else ' ' * 6}{line.replace(', ', ',')}" for line in lines]


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
