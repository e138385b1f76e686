"""TOML, as its specification has it, with finite numbers and not too deep.

Keys and texts in it come as they may be shown (hexsim.texts.names).
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from hexsim.errors import InvalidDataError
from hexsim.texts.names import visible
from hexsim.texts.trees import MOST_LEVELS, require_plain, shown

MOST_CHARACTERS = 1 << 22
"""Of a text; datasheets have a hundredth of them."""

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{MOST_LEVELS}}}")
"""A key of more parts than levels. `tomllib` takes memory that grows with their square."""


def parse_toml(text: str, where: str, *, as_written: bool = False) -> dict[str, Any]:
    """Return what `text` says, its texts visible, or `as_written` where they name files.

    Raises InvalidDataError beginning with `where`, with line or key.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidDataError(f"{where} has {len(text)} characters, more than {MOST_CHARACTERS}")
    if (deep := _DEEP.search(text)) is not None:
        line = text.count("\n", 0, deep.start()) + 1
        raise InvalidDataError(
            f"{where}, line {line}: a key is nested more than {MOST_LEVELS} levels"
        )
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidDataError(f"{where}: not valid TOML: {error}; repair it") from None
    except RecursionError:
        raise InvalidDataError(f"{where} is nested more than {MOST_LEVELS} levels deep") from None
    except (ValueError, OverflowError):  # the only one that is left: an integer's digits
        raise InvalidDataError(
            f"{where}: a number has too many digits; give a finite one"
        ) from None
    require_plain(tree, where)
    return tree if as_written else _with_visible_keys(shown(tree), where)


def _with_visible_keys(tree: Any, where: str) -> Any:
    """The tree anew, whose keys are visible; InvalidDataError for two that are shown alike."""
    if isinstance(tree, list):
        return [_with_visible_keys(item, where) for item in tree]
    if not isinstance(tree, dict):
        return tree
    keys = [*map(visible, tree)]
    if len({*keys}) < len(keys):
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise InvalidDataError(f"{where}: key '{twice}' is there twice; keep one of them")
    items = (_with_visible_keys(item, where) for item in tree.values())
    return dict(zip(keys, items, strict=True))
