"""What JSON and TOML have in common: trees of tables and lists, whose numbers are finite."""

from __future__ import annotations

import math
from typing import Any

from hexsim.errors import InvalidDataError

MOST_LEVELS = 64
"""How deep tables and lists may be nested."""
_MOST_DIGITS, _MOST_BITS = 40, 128


def whole_number(digits: str) -> float:
    """Read an integer; one of more digits than anything has is infinite, and so refused."""
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def require_plain(tree: Any, where: str) -> None:
    """InvalidDataError, naming `where` and the key, for NaN, infinity, and what is too deep."""
    pending: list[tuple[Any, str, int]] = [(tree, "", 0)]
    while pending:
        node, path, level = pending.pop()
        if level > MOST_LEVELS:
            raise InvalidDataError(
                f"{where}: {_key(path)} is nested more than {MOST_LEVELS} levels deep"
            )
        if isinstance(node, dict):
            pending += ((item, f"{path}.{key}", level + 1) for key, item in node.items())
        elif isinstance(node, list):
            pending += ((item, f"{path}[{at}]", level + 1) for at, item in enumerate(node))
        elif isinstance(node, float) and not math.isfinite(node):
            what = "NaN" if math.isnan(node) else "infinite, or too large a number"
            raise InvalidDataError(f"{where}: {_key(path)} is {what}; give a finite one")
        elif isinstance(node, int) and node.bit_length() > _MOST_BITS:
            raise InvalidDataError(
                f"{where}: {_key(path)} is too large a number; give a finite one"
            )


def _key(path: str) -> str:
    shown = path.lstrip(".")
    return f"key '{shown if len(shown) <= 80 else shown[:77] + '...'}'" if shown else "all of it"
