"""Constants that are read on several cores, or on other cores while nobody needs them yet."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from hexsim.graph.ir import Constant
from hexsim.threads.cores import default_threads

_HEAVY_ELEMENTS = 1 << 16
"""Constants from which on it is worth to read several at a time (assumed)."""


def heavy(constants: Iterable[Constant]) -> list[Constant]:
    """Those that take long to read, the largest first."""
    found = [constant for constant in constants if constant.elements >= _HEAVY_ELEMENTS]
    return sorted(found, key=lambda one: -one.elements)


def read_ahead(constants: Iterable[Constant]) -> None:
    """Begin to read heavy constants; who needs one meanwhile waits for it.

    What cannot be read is told to who needs it.
    """
    waiting = iter([one for one in heavy(constants) if one.kept])

    def read() -> None:
        for constant in waiting:
            try:
                constant.value()
            except Exception:  # nothing is remembered then, so it is raised again
                continue

    for _ in range(default_threads()):
        threading.Thread(target=read, daemon=True).start()
