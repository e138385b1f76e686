"""Writes a datasheet as the text of a TOML file, which `Shelf.load` reads.

Left out: comments, which are not read.
"""

import json
from collections.abc import Iterator
from typing import Any

from hexsim.datasheets.datasheet import Datasheet
from hexsim.datasheets.texts import Tree


def datasheet_text(datasheet: Datasheet, title: str) -> str:
    """Return the file of a datasheet under another title; constants are inline tables."""
    tree = {**datasheet.tree, "title": title}
    return "\n".join(_lines(tree, ())) + "\n"


def _lines(table: Tree, at: tuple[str, ...]) -> Iterator[str]:
    below = {key: node for key, node in table.items() if _is_table(node)}
    own = [key for key in table if key not in below]
    if at and (own or not below):
        yield f"\n[{'.'.join(at)}]"
    for key in own:
        yield f"{_key(key)} = {_value(table[key])}"
    for key, node in below.items():
        yield from _lines(node, (*at, key))


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)


def _is_table(node: object) -> bool:
    return isinstance(node, dict) and "value" not in node


def _value(node: Any) -> str:
    if isinstance(node, dict):
        return f"{{ {', '.join(f'{key} = {_value(item)}' for key, item in node.items())} }}"
    if isinstance(node, list | tuple):
        return f"[{', '.join(map(_value, node))}]"
    if isinstance(node, str):
        return json.dumps(node, ensure_ascii=False)
    return str(node).lower() if isinstance(node, bool) else repr(node)
