"""What JSON and TOML have in common: trees of tables and lists, whose numbers are finite."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from hexsim.errors import InvalidDataError
from hexsim.texts.names import visible

MOST_LEVELS = 64
"""How deep tables and lists may be nested."""
MOST_VALUES = 1 << 23
"""Values of a JSON text, an object as four: half a GiB in memory at most, where a text of 240 MB
could become 6 GB. A network with encodings for 700 000 channels has that many."""
_OBJECT_VALUES = 4
"""An object takes about as much memory as four numbers or texts (measured with CPython 3.11)."""
_MOST_DIGITS, _MOST_BITS = 40, 128


def require_small(text: str, where: str) -> None:
    """Raise InvalidDataError, naming `where`, for JSON of more values than anything describes.

    Counted is what separates values, before one is read; what stands in strings counts with them.
    """
    count = text.count(",") + text.count("[") + _OBJECT_VALUES * text.count("{")
    if count > MOST_VALUES:
        raise InvalidDataError(f"{where} has about {count} values, more than {MOST_VALUES}")


def whole_number(digits: str) -> float:
    """Read an integer; one of more digits than anything has is infinite, and so refused."""
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def require_plain(tree: Any, where: str) -> None:
    """InvalidDataError, naming `where` and the key, for NaN, infinity, and what is too deep."""
    parts: list[str] = []
    fault = _fault(tree)
    open_nodes: list[Iterator[tuple[str, Any]]] = [] if fault else [_items(tree)]
    while open_nodes and not fault:
        part, node = next(open_nodes[-1], (None, None))
        if part is None:
            open_nodes.pop()
            del parts[-1:]
            continue
        parts.append(part)
        fault = _fault(node)
        if len(open_nodes) > MOST_LEVELS:
            fault = f"is nested more than {MOST_LEVELS} levels deep"
        elif isinstance(node, dict | list):
            open_nodes.append(_items(node))
        elif not fault:
            parts.pop()
    if fault:
        raise InvalidDataError(f"{where}: {_key(''.join(parts))} {fault}")


def _items(node: Any) -> Iterator[tuple[str, Any]]:
    """What a table or list holds, each with its part of a path; nothing for other nodes."""
    if isinstance(node, dict):
        return ((f".{key}", item) for key, item in node.items())
    if isinstance(node, list):
        return ((f"[{at}]", item) for at, item in enumerate(node))
    return iter(())


def _fault(node: Any) -> str:
    """Say what is wrong with a number, if something is."""
    if isinstance(node, float) and not math.isfinite(node):
        what = "NaN" if math.isnan(node) else "infinite, or too large a number"
        return f"is {what}; give a finite one"
    if isinstance(node, int) and node.bit_length() > _MOST_BITS:
        return "is too large a number; give a finite one"
    return ""


def shown(tree: Any) -> Any:
    """Return `tree` with its texts visible (hexsim.texts.names); its keys are so already.

    Tables and lists are changed in place, as nobody else has them yet.
    """
    if isinstance(tree, str):
        return visible(tree)
    pending = [tree] if isinstance(tree, dict | list) else []
    while pending:
        node = pending.pop()
        for key, item in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(item, str):
                if not item.isprintable():
                    node[key] = visible(item)
            elif isinstance(item, dict | list):
                pending.append(item)
    return tree


def _key(path: str) -> str:
    told = path.lstrip(".")
    return f"key '{told if len(told) <= 80 else told[:77] + '...'}'" if told else "all of it"
