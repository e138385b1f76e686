"""How many examples are drawn or paired: all in thorough runs, a part of them in others.

CI makes both runs. HEXSIM_THOROUGH=1 in the environment makes one thorough.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

First, Second = TypeVar("First"), TypeVar("Second")

THOROUGH = os.environ.get("HEXSIM_THOROUGH", "") == "1"
SHARE = 6
"""Of how many examples a quick run draws one."""


def examples(most: int) -> settings:
    """Draw so many examples if the run is thorough."""
    return settings(max_examples=most if THOROUGH else -(-most // SHARE))


def cases(most: int) -> range:
    """Return the numbers of so many cases of a fuzz if the run is thorough, else of a part."""
    return range(10_000, 10_000 + (most if THOROUGH else -(-most // SHARE)))


def paired(
    firsts: Sequence[First], seconds: Sequence[Second], count: int, start: int = 0
) -> list[tuple[First, Second]]:
    """Pair each of `firsts` with all of `seconds` if the run is thorough, else with `count`.

    They take turns: the next of `firsts` begins with the next of `seconds`.
    """
    count = len(seconds) if THOROUGH else count
    return [
        (first, seconds[(start + number + turn) % len(seconds)])
        for number, first in enumerate(firsts)
        for turn in range(count)
    ]
