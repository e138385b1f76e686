"""What a decision ruled out, by reason: each with how many it hit, and between which figures.

A reason of a limit has a figure of its own for each choice; those of one limit are one group. A
reason that names chip and runtime says the same of others: the group names them, not the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hexsim.studies.decision import RuledOut


@dataclass(frozen=True)
class OutGroup:
    """All that are out for one reason; `nearest` and `furthest` are figures, of a limit alone."""

    reason: str
    those: tuple[RuledOut, ...]
    nearest: str = ""
    furthest: str = ""

    @property
    def limit(self) -> str:
        """The option that says what is allowed; empty for what a runtime does not take."""
        return self.reason.split()[1] if self.those[0].limit else ""

    @property
    def modes(self) -> tuple[str, ...]:
        """Quantiser modes, each once."""
        return tuple(dict.fromkeys(one.mode for one in self.those))

    @property
    def places(self) -> tuple[str, ...]:
        """Chips and runtimes, each once."""
        return tuple(dict.fromkeys(f"{one.chip} {one.where}" for one in self.those))


def out_groups(out: Iterable[RuledOut]) -> tuple[OutGroup, ...]:
    """Return the groups in the order of their first."""
    found: dict[str, list[RuledOut]] = {}
    for one in out:
        found.setdefault(_split(one)[1], []).append(one)
    return tuple(_group(reason, those) for reason, those in found.items())


def _split(one: RuledOut) -> tuple[str, str]:
    """The figure of a choice, and the limit that it is beyond; or no figure, and the reason."""
    figure, comma, limit = one.reason.rpartition(", ")
    return (figure, limit) if one.limit and comma else ("", _of_any_place(one))


def _of_any_place(one: RuledOut) -> str:
    """The reason without the chip and runtime that the choice is on."""
    runtime = one.where.split()[0]
    return one.reason.replace(f"{runtime} of chip {one.chip} ", "the runtime ").replace(
        f" {runtime} of ", " the runtime of "
    )


def _group(reason: str, those: list[RuledOut]) -> OutGroup:
    figures = sorted((_split(one)[0] for one in those), key=_value)
    if reason.startswith("under"):
        figures.reverse()
    return OutGroup(reason, tuple(those), figures[0], figures[-1])


def _value(figure: str) -> float:
    found = re.search(r"-?\d[\d.e+-]*", figure)
    return float(found[0]) if found else 0.0
