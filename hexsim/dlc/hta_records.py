"""Checks that a compiled record agrees with its HTA section.

1. It has the format that is written here, and is for the section's chip.
2. It has commands for the section's layers, each once, in their order.
3. Numbers in commands are whole and not negative, and a command waits for an earlier layer at most.

Left out: whether the compiler would make these commands. A run compiles the section again and uses
no commands of the file.
"""

from collections.abc import Sequence
from typing import Any

from hexsim.errors import InvalidDataError, spelled
from hexsim.texts.json_text import parse_json
from hexsim.texts.text import decoded

_FORMAT = 1
"""The format of `hexsim.hta.command_list`, which this room must not import."""
_NUMBERS = 4
"""Numbers of a command: bytes in, clocks, bytes out, and the layer that it waits for."""


def require_record(record: bytes, chip: str, layers: Sequence[str]) -> None:
    """Raise InvalidDataError, whose text is a clause, unless `record` fits chip and layers."""
    subject = "its record"
    tree = parse_json(decoded(record, subject), subject)
    if not isinstance(tree, dict) or "format" not in tree:
        raise InvalidDataError(f"{subject} is no list of commands")
    if tree["format"] != _FORMAT:
        raise InvalidDataError(
            f"{subject} has format {tree['format']}, this hexsim reads {_FORMAT}; quantise the "
            f"network again with {spelled('enable_hta')}"
        )
    if tree.get("chip") != chip:
        raise InvalidDataError(
            f"{subject} is for chip '{tree.get('chip')}', the section for '{chip}'"
        )
    parts = tree.get("layers")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InvalidDataError(f"{subject} is no list of commands")
    names = [part.get("layer") for part in parts]
    if names != list(layers):
        raise InvalidDataError(
            f"{subject} is that of other layers: {_first_difference(names, layers)}"
        )
    for at, part in enumerate(parts):
        if not _are_commands(part.get("commands"), at) or not _is_count(part.get("array_clocks")):
            raise InvalidDataError(f"{subject} has no possible commands for layer '{layers[at]}'")


def _first_difference(names: Sequence[Any], layers: Sequence[str]) -> str:
    pairs = zip(names, layers, strict=False)
    at = next((at for at, (name, layer) in enumerate(pairs) if name != layer), None)
    if at is None:
        return f"it has {len(names)}, the section {len(layers)}"
    return f"layer {at} is '{names[at]}' there, and '{layers[at]}' in the section"


def _are_commands(commands: Any, at: int) -> bool:
    """Return whether these are possible commands of layer `at` of a section."""
    return isinstance(commands, list) and all(
        isinstance(command, list)
        and len(command) == _NUMBERS
        and all(map(_is_count, command[:-1]))
        and type(command[-1]) is int
        and -1 <= command[-1] < at
        for command in commands
    )


def _is_count(number: Any) -> bool:
    return type(number) is int and number >= 0
