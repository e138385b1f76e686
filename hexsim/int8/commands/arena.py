"""Where activations lie: tensors that are never needed at the same time share memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hexsim.int8.machine_code.memory import whole_lines


@dataclass(frozen=True)
class Life:
    """A tensor's bytes, and the first and last call during which they must not change."""

    bytes: int
    first: int
    last: int

    def meets(self, other: Life) -> bool:
        """Return whether both are needed during some call."""
        return self.first <= other.last and other.first <= self.last


def place(lives: Mapping[str, Life]) -> tuple[dict[str, int], int]:
    """Return where each tensor starts, in bytes, and how many bytes they take together.

    The largest come first, each in the lowest gap between those it meets.
    """
    starts: dict[str, int] = {}
    total = 0
    for name in sorted(lives, key=lambda name: -lives[name].bytes):
        life = lives[name]
        size = whole_lines(life.bytes)
        occupied = sorted(
            (start, start + whole_lines(lives[other].bytes))
            for other, start in starts.items()
            if life.meets(lives[other])
        )
        at = 0
        for start, end in occupied:
            if at + size <= start:
                break
            at = max(at, end)
        starts[name] = at
        total = max(total, at + size)
    return starts, total
