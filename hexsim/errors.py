"""The one exception type that reaches a user.

Every mistake a user can make (a wrong file, an unknown chip, a layer that a runtime refuses)
is raised as a `HexsimError` whose text is one sentence: what is wrong, where, and what to do.
The command line prints that sentence and exits with code 2; library callers catch the type.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from typing import Any, SupportsFloat

_MOST = 200
"""Characters of a name that is compared with others, and shown."""
_LONG = re.compile(r"(?<=')[^']{1000,}(?=')|[^\s']{400,}")
"""A name or word that somebody made to be long; paths and what stands between names are seldom."""


class HexsimError(Exception):
    """A mistake in what the user gave us, told in one sentence.

    Names in it come from files and may be of any length: of a very long one the beginning is told.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(_LONG.sub(lambda word: f"{word[0][:_MOST]}...", sentence))


class InvalidDataError(ValueError):
    """What a file or a user gave is wrong, told without its place.

    It is raised on purpose, by whoever finds the mistake. Whoever knows the layer, node or file it
    is about catches it, and raises a HexsimError that names it. Any other ValueError is a bug.
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the tail of an 'unknown name' sentence: the nearest known names, or all of them."""
    names, name = sorted(known), str(name)[:_MOST]  # a very long one takes very long to compare
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"known: {', '.join(names)}" if names else "none is known"


def unknown(kind: str, name: str, known: Iterable[str]) -> HexsimError:
    """Build the error for a name that is not in a list of known names."""
    name = str(name)
    shown = name if len(name) <= _MOST else f"{name[:_MOST]}..."
    return HexsimError(f"unknown {kind} '{shown}'; {nearest(name, known)}")


def require_number(what: str, value: Any, least: float, most: float) -> None:
    """Raise HexsimError unless `value` is a number from `least` to `most`."""
    is_number = isinstance(value, SupportsFloat) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan
    except OverflowError:
        number = math.inf
    if not least <= number <= most:
        raise HexsimError(f"{what} is a number from {least:g} to {most:g}, not {value!r}")
