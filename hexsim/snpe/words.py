"""Reads the words behind a tool's name by its table, as Python's argparse and getopt_long do.

1. `--option value`, `--option=value`; a hyphen in a name is as good as an underscore.
2. An option may be cut short as long as it is the only one that begins so.
3. A short option may have its value glued on: `-ofile`; `-i1` is one by itself where it is known.
4. Where a value may be missing, the next word is taken only if it is one of those known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hexsim.errors import HexsimError, unknown
from hexsim.snpe.option import Option

Given = tuple[Option, tuple[str, ...]]
"""An option with its values."""


def read(options: Sequence[Option], words: Sequence[str]) -> list[Given]:
    """Return the options in the order given; raise HexsimError for what no table knows."""
    return list(_each(_by_name(options), list(words)))


def _by_name(options: Sequence[Option]) -> dict[str, Option]:
    return {_plain(name): option for option in options for name in option.names}


def _plain(name: str) -> str:
    return name[:2] + name[2:].replace("-", "_")


def _each(known: dict[str, Option], rest: list[str]) -> Iterator[Given]:
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            raise HexsimError(f"'{word}' follows no option; every value has one before it")
        name, equals, value = word.partition("=")
        option, glued = _find(known, name)
        if option is None:
            raise unknown("option", name, {one.name for one in known.values()})
        first = [value] if equals else [glued] if glued else []
        yield option, _values(option, name, first, rest)


def _find(known: dict[str, Option], name: str) -> tuple[Option | None, str]:
    """The option that is meant, and the value that is glued to its name."""
    plain = _plain(name)
    if plain in known:
        return known[plain], ""
    if name.startswith("--"):
        found = {known[one].name: known[one] for one in known if one.startswith(plain)}
        if len(found) > 1:
            raise HexsimError(f"'{name}' may be {' or '.join(sorted(found))}; write more of it")
        return next(iter(found.values()), None), ""
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
