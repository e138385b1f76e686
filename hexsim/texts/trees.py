"""JSON and TOML as trees of tables and lists with finite numbers: strict readers, and checks.

JSON has no duplicate keys, no NaN, no huge numbers and limited depth; TOML finite numbers, limited
size and depth. Keys and texts are usually names, and special characters in them become visible
(hexsim.texts.text).
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hexsim.errors import InvalidTextError
from hexsim.texts.text import visible

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
    """Raise InvalidTextError, naming `where`, for JSON of too many values.

    It counts separators before parsing, including those inside strings.
    """
    count = text.count(",") + text.count("[") + _OBJECT_VALUES * text.count("{")
    if count > MOST_VALUES:
        raise InvalidTextError(f"{where} has about {count} values, more than {MOST_VALUES}")


def whole_number(digits: str) -> float:
    """Parse an integer; one with too many digits becomes infinite, which is refused later."""
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def is_quantity(number: float) -> bool:
    """Tell whether a number is zero, or of a size that a physical quantity may have."""
    return number == 0 or SMALLEST <= abs(number) <= LARGEST


def require_plain(tree: Any, where: str, *, quantities: bool = False) -> None:
    """Raise InvalidTextError, naming `where` and the key, for NaN, infinity or too deep nesting.

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
        raise InvalidTextError(f"{where}: {_key(''.join(parts))} {fault}")


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
    """Return `tree` with visible texts (hexsim.texts.text); its keys are visible already.

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


def parse_json(text: str, where: str, *, as_written: bool = False) -> Any:
    """Return the parsed `text`; its texts become visible, unless `as_written` (for file names).

    Raises InvalidTextError beginning with `where`, with line or key.
    """
    import json  # not at the top, since readers of TOML alone start faster without it

    require_small(text, where)

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if not as_written:
            pairs = [(visible(name), value) for name, value in pairs]
        collected = dict(pairs)
        if len(collected) < len(pairs):  # `json` itself would keep the last and say nothing
            counts = Counter(name for name, _ in pairs)
            duplicate = next(name for name, count in counts.items() if count > 1)
            raise InvalidTextError(f"{where}: key '{duplicate}' is there twice; keep one of them")
        return collected

    try:
        tree = json.loads(text, object_pairs_hook=collect, parse_int=whole_number)
    except json.JSONDecodeError as error:
        fault = error.msg.removesuffix(" at").removesuffix(" starting")
        raise InvalidTextError(f"{where}, line {error.lineno}: {fault}; repair the JSON") from None
    except RecursionError:
        raise InvalidTextError(f"{where} is nested more than {MOST_LEVELS} levels deep") from None
    require_plain(tree, where)
    return tree if as_written else with_visible_texts(tree)


MOST_CHARACTERS = 1 << 22
"""The most characters of a text; datasheets have a hundredth of this."""

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?)"""
"""A part of a key, or any quoted text; one that does not end is still read once only."""
_KEY = re.compile(
    rf"{_PART}(?:(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_LEVELS}}}(?P<deep>))?+|[^\w\"'-]++"
)
"""A key with too many parts, one part, or what lies between parts; together all of a text. The
memory of `tomllib` grows with the square of the number of parts."""


def parse_toml(
    text: str, where: str, *, as_written: bool = False, quantities: bool = False
) -> dict[str, Any]:
    """Return the parsed `text`; its texts become visible, unless `as_written` (for file names).

    With `quantities`, numbers have a size that a physical quantity may have (hexsim.texts.trees).
    Raises InvalidTextError beginning with `where`, with line or key.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidTextError(f"{where} has {len(text)} characters, more than {MOST_CHARACTERS}")
    deep_key = next((match for match in _KEY.finditer(text) if match["deep"] is not None), None)
    if deep_key is not None:
        line = text.count("\n", 0, deep_key.start()) + 1
        raise InvalidTextError(
            f"{where}, line {line}: a key is nested more than {MOST_LEVELS} levels"
        )
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidTextError(f"{where}: not valid TOML: {error}; repair it") from None
    except RecursionError:
        raise InvalidTextError(f"{where} is nested more than {MOST_LEVELS} levels deep") from None
    except (ValueError, OverflowError):  # the only one that is left: an integer's digits
        raise InvalidTextError(
            f"{where}: a number has too many digits; give a finite one"
        ) from None
    require_plain(tree, where, quantities=quantities)
    return tree if as_written else _with_visible_keys(with_visible_texts(tree), where)


def _with_visible_keys(tree: Any, where: str) -> Any:
    """Return a copy with visible keys; InvalidTextError if two become equal."""
    if isinstance(tree, list):
        return [_with_visible_keys(item, where) for item in tree]
    if not isinstance(tree, dict):
        return tree
    keys = [*map(visible, tree)]
    if len({*keys}) < len(keys):
        duplicate = next(key for index, key in enumerate(keys) if key in keys[:index])
        raise InvalidTextError(f"{where}: key '{duplicate}' is there twice; keep one of them")
    items = (_with_visible_keys(item, where) for item in tree.values())
    return dict(zip(keys, items, strict=True))
