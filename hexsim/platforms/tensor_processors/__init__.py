"""The tensor processors of the chips from V68 on, and the reader of the user's own files.

They stand apart from the chips' files until a runtime of the simulator runs on them.
"""

from __future__ import annotations

from pathlib import Path

from hexsim.platforms.datasheet import Shelf
from hexsim.platforms.tensor_processors.sheet import Htp, Release, TensorProcessor

__all__ = ["Htp", "Release", "TensorProcessor", "load", "names"]

_SHELF = Shelf(TensorProcessor, "tensor processor", Path(__file__).parent)


def names() -> tuple[str, ...]:
    """List the chips whose tensor processor is known."""
    return _SHELF.names()


def load(name_or_path: str | Path) -> TensorProcessor:
    """Load that of a chip by its name, or a file by its path; HexsimError for an unknown one."""
    return _SHELF.load(name_or_path)
