"""Checks for parsed JSON and TOML: trees of tables and lists with finite numbers."""

import math
from collections.abc import Iterator
from typing import Any

from hexsim.errors import InvalidDataError
from hexsim.texts.names import visible

MOST_LEVELS = 64
"""The greatest depth of nested tables and lists."""
MOST_VALUES = 1 << 23
"""The most values of a JSON text, an object counting as four. They take at most half a GiB; without
a limit a text of 240 MB could take 6 GB. Encodings for 700 000 channels have this many."""
SMALLEST, LARGEST = 1e-18, 1e18
"""Bounds of the size of a physical quantity that is not zero, in any unit. Constants of chips reach
from 5e-14 to 1.5e11; the products and quotients of quantities within these bounds are finite."""
_OBJECT_VALUES = 4
"""An object takes about as much memory as four numbers or texts (measured with CPython 3.11)."""
_MOST_DIGITS, _MOST_BITS = 40, 128


def require_small(text: str, where: str) -> None:
    """Raise InvalidDataError, naming `where`, for JSON of too many values.

    It counts separators before parsing, including those inside strings.
    """
    count = text.count(",") + text.count("[") + _OBJECT_VALUES * text.count("{")
    if count > MOST_VALUES:
        raise InvalidDataError(f"{where} has about {count} values, more than {MOST_VALUES}")


def whole_number(digits: str) -> float:
    """Parse an integer; one with too many digits becomes infinite, which is refused later."""
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def is_quantity(number: float) -> bool:
    """Tell whether a number is zero, or of a size that a physical quantity may have."""
    return number == 0 or SMALLEST <= abs(number) <= LARGEST


def require_plain(tree: Any, where: str, *, quantities: bool = False) -> None:
    """Raise InvalidDataError, naming `where` and the key, for NaN, infinity or too deep nesting.

    With `quantities`, also for numbers of a size that no physical quantity has.
    """
    parts: list[str] = []
    fault = _fault(tree, quantities)
    open_nodes: list[Iterator[tuple[str, Any]]] = [] if fault else [_items(tree)]
    while open_nodes and not fault:
        part, node = next(open_nodes[-1], (None, None))
        if part is None:
            open_nodes.pop()
            del parts[-1:]
            continue
        parts.append(part)
        fault = _fault(node, quantities)
        if len(open_nodes) > MOST_LEVELS:
            fault = f"is nested more than {MOST_LEVELS} levels deep"
        elif isinstance(node, dict | list):
            open_nodes.append(_items(node))
        elif not fault:
            parts.pop()
    if fault:
        raise InvalidDataError(f"{where}: {_key(''.join(parts))} {fault}")


def _items(node: Any) -> Iterator[tuple[str, Any]]:
    """Return the items of a table or list, each with its part of a path; nothing for others."""
    if isinstance(node, dict):
        return ((f".{key}", item) for key, item in node.items())
    if isinstance(node, list):
        return ((f"[{index}]", item) for index, item in enumerate(node))
    return iter(())


def _fault(node: Any, quantities: bool) -> str:
    """Return the fault of a number, or an empty text."""
    if isinstance(node, float) and not math.isfinite(node):
        problem = "NaN" if math.isnan(node) else "infinite, or too large a number"
        return f"is {problem}; give a finite one"
    if isinstance(node, int) and node.bit_length() > _MOST_BITS:
        return "is too large a number; give a finite one"
    if quantities and isinstance(node, int | float) and not is_quantity(node):
        return f"is {node:g}; give 0, or a number of a size between {SMALLEST:g} and {LARGEST:g}"
    return ""


def with_visible_texts(tree: Any) -> Any:
    """Return `tree` with visible texts (hexsim.texts.names); its keys are visible already.

    Tables and lists are changed in place, as nothing else refers to them yet.
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
    key = path.lstrip(".")
    return f"key '{key if len(key) <= 80 else key[:77] + '...'}'" if key else "all of it"
