"""The candidates that a decision ruled out, grouped by reason.

The reason of a limit contains the figure of the candidate; all candidates beyond one limit are one
group. A reason may name the chip and runtime; they are taken out of it, and the group lists them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hexsim.studies.decision import RuledOut


@dataclass(frozen=True)
class OutGroup:
    """All candidates ruled out for one reason; `nearest` and `furthest` are figures of a limit."""

    reason: str
    candidates: tuple[RuledOut, ...]
    nearest: str = ""
    furthest: str = ""

    @property
    def limit(self) -> str:
        """The option that sets the limit; empty if a runtime refuses the network."""
        return self.reason.split()[1] if self.candidates[0].limit else ""

    @property
    def modes(self) -> tuple[str, ...]:
        """Quantiser modes, each once."""
        return tuple(dict.fromkeys(candidate.mode for candidate in self.candidates))

    @property
    def places(self) -> tuple[str, ...]:
        """Chips and runtimes, each once."""
        return tuple(
            dict.fromkeys(f"{candidate.chip} {candidate.where}" for candidate in self.candidates)
        )


def out_groups(ruled_out: Iterable[RuledOut]) -> tuple[OutGroup, ...]:
    """Return the groups in the order of their first candidates."""
    by_reason: dict[str, list[RuledOut]] = {}
    for candidate in ruled_out:
        by_reason.setdefault(_split(candidate)[1], []).append(candidate)
    return tuple(_group(reason, candidates) for reason, candidates in by_reason.items())


def _split(candidate: RuledOut) -> tuple[str, str]:
    """Return the figure and the limit that it is beyond; or no figure, and the reason."""
    figure, comma, limit = candidate.reason.rpartition(", ")
    return (figure, limit) if candidate.limit and comma else ("", _of_any_place(candidate))


def _of_any_place(candidate: RuledOut) -> str:
    """Return the reason without the names of chip and runtime."""
    runtime = candidate.where.split()[0]
    return candidate.reason.replace(f"{runtime} of chip {candidate.chip} ", "the runtime ").replace(
        f" {runtime} of ", " the runtime of "
    )


def _group(reason: str, candidates: list[RuledOut]) -> OutGroup:
    figures = sorted((_split(candidate)[0] for candidate in candidates), key=_value)
    if reason.startswith("under"):
        figures.reverse()
    return OutGroup(reason, tuple(candidates), figures[0], figures[-1])


def _value(figure: str) -> float:
    match = re.search(r"-?\d[\d.e+-]*", figure)
    return float(match[0]) if match else 0.0
