"""Compare two results of `hexsim bench`, `profile` or `llm`.

Cases are paired by network and runtime, and by chip if both files have the same chips, layers by
name; equal keys are paired in their order.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hexsim.display import DisplayTable, Shown
from hexsim.studies.result_files import Amount, CaseResult, ResultFile

Item = TypeVar("Item")


@dataclass(frozen=True)
class FigureChange:
    """A figure before and after; None where it is missing."""

    name: str
    unit: str
    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        """After over before; None where one is missing or before is zero."""
        if self.before is None or self.after is None or not self.before:
            return None
        return self.after / self.before


@dataclass(frozen=True)
class CaseChange:
    """The changes for a network on a runtime; `conditions` are the ones that differ.

    `chip` is that of both, None if it is one of those.
    """

    network: str
    runtime: str
    conditions: tuple[tuple[str, str, str], ...]
    figures: tuple[FigureChange, ...]
    layers: tuple[FigureChange, ...]
    chip: str | None = None

    @property
    def slower(self) -> float:
        """Relative increase of the total inference time; below 0 if it decreased."""
        return (self.figures[0].ratio or 1.0) - 1.0


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Two files: their versions, the cases of both, and cases that only one has."""

    versions: tuple[str, str]
    cases: tuple[CaseChange, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]

    def display_table(self) -> DisplayTable:
        """Return a row per figure of the cases in both files, without figures of layers."""
        title = f"{len(self.cases)} in both, {len(self.gone)} gone, {len(self.new)} new"
        columns = ("network", "runtime", "figure", "unit", "before", "after", "ratio")
        rows = tuple(
            (
                case.network,
                case.runtime,
                figure.name,
                figure.unit,
                figure.before,
                figure.after,
                figure.ratio,
            )
            for case in self.cases
            for figure in case.figures
            if figure.before is not None or figure.after is not None
        )
        return DisplayTable(title, columns, rows, bars="ratio")


def compare(before: ResultFile, after: ResultFile) -> Comparison:
    """Pair the cases of two files."""
    same_chips = _chips(before) == _chips(after)
    pairs = _paired(
        before.cases,
        after.cases,
        lambda case: (case.network, case.runtime, same_chips and case.conditions.get("chip")),
    )
    return Comparison(
        (before.version, after.version),
        tuple(_case(old, new) for old, new in pairs if old and new),
        tuple(f"{old.network} on {old.runtime}" for old, new in pairs if old and not new),
        tuple(f"{new.network} on {new.runtime}" for old, new in pairs if new and not old),
    )


def _chips(results: ResultFile) -> set[str | None]:
    return {case.conditions.get("chip") for case in results.cases}


def _case(before: CaseResult, after: CaseResult) -> CaseChange:
    conditions = [
        (name, stated, after.conditions.get(name, "-"))
        for name, stated in before.conditions.items()
    ]
    chip = before.conditions.get("chip")
    return CaseChange(
        before.network,
        before.runtime,
        tuple(condition for condition in conditions if condition[1] != condition[2]),
        _changes(before.figures, after.figures),
        _changes(before.layers, after.layers),
        chip if chip == after.conditions.get("chip") else None,
    )


def _changes(before: Sequence[Amount], after: Sequence[Amount]) -> tuple[FigureChange, ...]:
    return tuple(
        FigureChange(
            figure.name, figure.unit, old.value if old else None, new.value if new else None
        )
        for old, new in _paired(before, after, lambda figure: figure.name)
        if (figure := old or new) is not None
    )


def _paired(
    before: Sequence[Item], after: Iterable[Item], key: Callable[[Item], Hashable]
) -> list[tuple[Item | None, Item | None]]:
    """Return pairs of equal keys in the order of `before`, then the items only in `after`."""
    waiting: dict[Hashable, list[Item]] = defaultdict(list)
    for item in after:
        waiting[key(item)].append(item)
    pairs: list[tuple[Item | None, Item | None]] = []
    for item in before:
        candidates = waiting[key(item)]
        pairs.append((item, candidates.pop(0) if candidates else None))
    unpaired = [item for items in waiting.values() for item in items]
    return [*pairs, *((None, item) for item in unpaired)]
