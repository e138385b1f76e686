"""Reads tables of options from the TOML files in `tables/`.

A file has groups of options, each option with the fields of `Option` and one effect:

- `ours`, the words of our command, or `anyway = true`;
- `ignored` or `refused`, the reason as a clause, or the name of one in the table `reasons`;
- `effects`, one of these for each value.

An option may be `like` the first of another group, which is named as `file.group`; it has its own
fields instead. `tools.toml` has the other fields of `Tool` by the name of the tool, its options as
a list of such groups. `instead.toml` says what to do instead of using tools of which only the name
is here.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hexsim.snpe.option import Anyway, Effect, Ignored, Option, Ours, RefusedOption, Tool
from hexsim.texts.toml_text import parse_toml

_EFFECTS = frozenset(("ours", "anyway", "ignored", "refused"))


@functools.cache
def option_group(path: str) -> tuple[Option, ...]:
    """Return the options of a group, whose path is `file.group`."""
    file, _, group = path.partition(".")
    tree = read_table(file)
    return tuple(_option(row, tree.get("reasons", {})) for row in tree[group])


def tools(commands: Mapping[str, Callable[..., None]]) -> dict[str, Tool]:
    """Return the tools that are done by our commands, by name."""
    described = read_table("tools")
    return {name: _tool(name, command, described[name]) for name, command in commands.items()}


def _tool(name: str, command: Callable[..., None], row: Mapping[str, Any]) -> Tool:
    options = tuple(option for path in row["options"] for option in option_group(path))
    return Tool(**{**_fixed(row), "name": name, "command": command, "options": options})


@functools.cache
def read_table(name: str) -> Mapping[str, Any]:
    """Return a file as it is."""
    path = Path(__file__).with_name("tables") / f"{name}.toml"
    return parse_toml(path.read_text("utf-8"), str(path), as_written=True)


def _option(row: dict[str, Any], reasons: Mapping[str, str]) -> Option:
    fields = {key: _fixed(value) for key, value in row.items() if key not in _EFFECTS}
    several = fields.pop("effects", None)
    if several is not None:
        fields["effect"] = {value: _effect(each, reasons) for value, each in several.items()}
    elif not _EFFECTS.isdisjoint(row):
        fields["effect"] = _effect(row, reasons)
    if like := fields.pop("like", None):
        return replace(option_group(like)[0], **fields)
    return Option(**{"values": (), **fields})


def _fixed(value: Any) -> Any:
    """Return lists as tuples, in tables too."""
    if isinstance(value, dict):
        return {key: _fixed(each) for key, each in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _effect(row: Mapping[str, Any], reasons: Mapping[str, str]) -> Effect:
    if "ours" in row:
        return Ours(*row["ours"])
    if "ignored" in row:
        return Ignored(reasons.get(row["ignored"], row["ignored"]))
    if "refused" in row:
        return RefusedOption(reasons.get(row["refused"], row["refused"]))
    return Anyway()
