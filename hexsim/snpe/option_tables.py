"""Reads tables of options from the TOML files in `tables/`.

A file has groups of options, each option with the fields of `Option` and one effect:

- `ours`, the words of our command, or `anyway = true`;
- `ignored` or `refused`, the reason as a clause, or the name of one in the table `reasons`;
- `effects`, one of these for each value.

`tools.toml` has the other fields of `Tool` by the name of the tool. `instead.toml` says what to do
instead of using tools of which only the name is here.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hexsim.snpe.option import Anyway, Effect, Ignored, Option, Ours, RefusedOption, Tool
from hexsim.texts.toml_text import parse_toml

_EFFECTS = ("ours", "anyway", "ignored", "refused")


def option_table(name: str) -> dict[str, tuple[Option, ...]]:
    """Return the options of a file by group, in its order."""
    tree = read_table(name)
    reasons = tree.pop("reasons", {})
    return {group: tuple(_option(row, reasons) for row in rows) for group, rows in tree.items()}


def tools(
    commands: Mapping[str, tuple[Callable[..., None], tuple[Option, ...]]],
) -> dict[str, Tool]:
    """Return the tools that are done by our commands with these options, by name."""
    described = read_table("tools")
    return {
        name: Tool(name, command=command, options=options, **_fixed(described[name]))
        for name, (command, options) in commands.items()
    }


def read_table(name: str) -> dict[str, Any]:
    """Return a file as it is."""
    path = Path(__file__).with_name("tables") / f"{name}.toml"
    return parse_toml(path.read_text("utf-8"), str(path), as_written=True)


def _option(row: dict[str, Any], reasons: Mapping[str, str]) -> Option:
    fields = {key: _fixed(value) for key, value in row.items() if key not in _EFFECTS}
    several = fields.pop("effects", None)
    effect: Effect | Mapping[str, Effect] = (
        _effect(row, reasons)
        if several is None
        else {value: _effect(each, reasons) for value, each in several.items()}
    )
    return Option(**{"values": (), **fields, "effect": effect})


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
