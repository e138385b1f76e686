"""A strict reader of TOML: finite numbers, limited size and depth.

Special characters in keys and texts become visible (hexsim.texts.names).
"""

import re
import tomllib
from typing import Any

from hexsim.errors import InvalidDataError
from hexsim.texts.names import visible
from hexsim.texts.trees import MOST_LEVELS, require_plain, with_visible_texts

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
    Raises InvalidDataError beginning with `where`, with line or key.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidDataError(f"{where} has {len(text)} characters, more than {MOST_CHARACTERS}")
    deep_key = next((match for match in _KEY.finditer(text) if match["deep"] is not None), None)
    if deep_key is not None:
        line = text.count("\n", 0, deep_key.start()) + 1
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
    require_plain(tree, where, quantities=quantities)
    return tree if as_written else _with_visible_keys(with_visible_texts(tree), where)


def _with_visible_keys(tree: Any, where: str) -> Any:
    """Return a copy with visible keys; InvalidDataError if two become equal."""
    if isinstance(tree, list):
        return [_with_visible_keys(item, where) for item in tree]
    if not isinstance(tree, dict):
        return tree
    keys = [*map(visible, tree)]
    if len({*keys}) < len(keys):
        duplicate = next(key for index, key in enumerate(keys) if key in keys[:index])
        raise InvalidDataError(f"{where}: key '{duplicate}' is there twice; keep one of them")
    items = (_with_visible_keys(item, where) for item in tree.values())
    return dict(zip(keys, items, strict=True))
