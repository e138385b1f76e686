"""Parses a tool's command line by its table, and writes its help.

Words are parsed as Python's argparse and getopt_long do.

1. An option is `--option value` or `--option=value`; hyphens and underscores in names are equal.
2. A name may be abbreviated if only one option begins with it.
3. The value of a short option may be attached: `-ofile`. `-i1` is an option if the table has it.
4. If a value may be missing, the next word is taken only if it is an allowed value.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from hexsim import __version__
from hexsim.errors import HexsimError, unknown
from hexsim.snpe.option import Effect, Option, Tool

TypedOption = tuple[Option, tuple[str, ...]]
"""An option with its values."""


def read(options: Sequence[Option], words: Sequence[str]) -> list[TypedOption]:
    """Return the options in the order given; raise HexsimError for unknown ones."""
    return list(_each(_by_name(options), list(words)))


def _by_name(options: Sequence[Option]) -> dict[str, Option]:
    return {_plain(name): option for option in options for name in option.names}


def _plain(name: str) -> str:
    return name[:2] + name[2:].replace("-", "_")


def _each(known: dict[str, Option], rest: list[str]) -> Iterator[TypedOption]:
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            raise HexsimError(f"'{word}' follows no option; every value has one before it")
        name, equals, value = word.partition("=")
        option, attached = _find(known, name)
        if option is None:
            raise unknown("option", name, {option.name for option in known.values()})
        first = [value] if equals else [attached] if attached else []
        yield option, _values(option, name, first, rest)


def _find(known: dict[str, Option], name: str) -> tuple[Option | None, str]:
    """Return the option of a name, and the value that is attached to the name."""
    plain = _plain(name)
    if plain in known:
        return known[plain], ""
    if name.startswith("--"):
        matches = {known[full].name: known[full] for full in known if full.startswith(plain)}
        if len(matches) > 1:
            raise HexsimError(f"'{name}' may be {' or '.join(sorted(matches))}; write more of it")
        return next(iter(matches.values()), None), ""
    short = known.get(name[:2])
    return (short, name[2:]) if short is not None and short.values else (None, "")


def _values(option: Option, name: str, first: list[str], rest: list[str]) -> tuple[str, ...]:
    if not option.values:
        if first:
            raise HexsimError(f"{name} takes no value, and is given '{first[0]}'")
        return ()
    values = first
    if option.alone and not values:
        values = [rest.pop(0) if rest and rest[0] in option.known else option.alone]
    while rest and len(values) < len(option.values):
        values.append(rest.pop(0))
    if len(values) < len(option.values):
        raise HexsimError(f"{name} needs {' and '.join(option.values)} behind it")
    check(option, name, values[-1])
    return tuple(values)


def check(option: Option, name: str, value: str) -> None:
    """Raise HexsimError unless the option takes `value` as its last one."""
    if option.known and value not in option.known:
        raise unknown(f"value of {name}", value, option.known)
    if option.number == "whole" and not (value.isascii() and value.isdecimal()):
        raise HexsimError(f"{name} takes a whole number, and is given '{value}'")
    if option.number == "real" and not _is_number(value):
        raise HexsimError(f"{name} takes a number, and is given '{value}'")


def _is_number(text: str) -> bool:
    try:
        return 0 <= float(text) < float("inf")
    except ValueError:
        return False


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
    if effect.kind == "ignored":
        yield f"Changes nothing: {effect.why}."
    if effect.kind == "refused":
        yield f"Refused: {effect.why}."


def _form_lines(option: Option) -> list[str]:
    if len(option.form) <= _LONGEST_FORM:
        return [f"  {option.form}"]
    lines = textwrap.wrap(option.form.replace(",", ", "), _WIDTH - 6)
    return [f"{'  ' if line is lines[0] else ' ' * 6}{line.replace(', ', ',')}" for line in lines]


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
