"""Options that take a name and a value as two words, as the SNPE converters have them.

typer knows repeatable options and options of two words, but not both at once. So the two words
are joined into one, `--input-dim data 1,3,224,224` becoming `--input-dim "data 1,3,224,224"`,
before typer sees them.
"""

from __future__ import annotations

from collections.abc import Sequence

PAIRED = frozenset({"--input-dim"})


def join_pairs(words: Sequence[str]) -> list[str]:
    """Return the command line with the two words after each paired option joined by a space."""
    joined, rest = [], list(words)
    while rest:
        word = rest.pop(0)
        joined.append(word)
        if word in PAIRED and len(rest) >= 2 and " " not in rest[0]:
            joined.append(f"{rest.pop(0)} {rest.pop(0)}")
    return joined
