"""Reads constants on several cores, before they are used."""

import threading
from collections.abc import Iterable

from hexsim.graph.ir import Constant
from hexsim.threads import default_threads

_HEAVY_ELEMENTS = 1 << 16
"""The least size of constants that are worth reading in parallel (assumed)."""


def heavy(constants: Iterable[Constant]) -> list[Constant]:
    """Return the constants that take long to read, the largest first."""
    large = [constant for constant in constants if constant.elements >= _HEAVY_ELEMENTS]
    return sorted(large, key=lambda constant: -constant.elements)


def read_ahead(constants: Iterable[Constant]) -> None:
    """Start to read heavy constants in threads; a use of one waits until it is read.

    Errors are raised where the constant is used.
    """
    waiting = iter([heavy_constant for heavy_constant in heavy(constants) if heavy_constant.kept])

    def read() -> None:
        for constant in waiting:
            try:
                constant.value()
            except Exception:  # nothing is remembered then, so it is raised again
                continue

    for _ in range(default_threads()):
        threading.Thread(target=read, daemon=True).start()
