"""Compare two JSON results of `hexsim bench` or `hexsim profile`.

Cases are paired by network and runtime, layers by name; equal keys are paired in their order. Only
the keys that are compared are read, so files of other versions work if they have these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hexsim.datasheets.refusals import sentence
from hexsim.display import DisplayTable, Shown
from hexsim.errors import HexsimError, InvalidDataError
from hexsim.texts.json_text import parse_json
from hexsim.texts.text import read_text

Us = Annotated[float, Field(ge=0)]
Item = TypeVar("Item")


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class LayerRead(_Read):
    """A layer, with its time in microseconds."""

    name: str
    us: Us


class MemoryRead(_Read):
    """Memory at its peak."""

    peak_bytes: int = Field(ge=0)


class EnergyRead(_Read):
    """Energy of an inference."""

    mj: float = Field(ge=0)


class AccuracyRead(_Read):
    """Agreement with float; None without any noise."""

    sqnr_db: float | None = None


class CaseRead(_Read):
    """A network on a runtime; memory, energy and accuracy where the file has them."""

    network: str
    chip: str
    stack: str
    runtime: str
    perf_profile: str
    buffer: str
    total_inference_us: Us
    forward_propagate_us: Us
    initialisation_total_us: Us
    layers: tuple[LayerRead, ...]
    memory: MemoryRead | None = None
    energy: EnergyRead | None = None
    accuracy: AccuracyRead | None = None


class ResultsRead(_Read):
    """A file of results."""

    hexsim_version: str
    results: tuple[CaseRead, ...]


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
    """The changes for a network on a runtime; `conditions` are the ones that differ."""

    network: str
    runtime: str
    conditions: tuple[tuple[str, str, str], ...]
    figures: tuple[FigureChange, ...]
    layers: tuple[FigureChange, ...]

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


def read_results(path: Path) -> ResultsRead:
    """Read a file of results; raise HexsimError if it is anything else."""
    try:
        text = read_text(path, "results", "give what --json of hexsim bench or profile wrote")
        return ResultsRead.model_validate(parse_json(text, str(path)))
    except ValidationError as error:
        fault = sentence(ResultsRead, error, str(path))
        raise HexsimError(f"{fault}; give what --json of hexsim bench or profile wrote") from None
    except InvalidDataError as error:
        raise HexsimError(str(error)) from None


def compare(before: ResultsRead, after: ResultsRead) -> Comparison:
    """Pair the cases of two files."""
    pairs = _paired(before.results, after.results, lambda case: (case.network, case.runtime))
    return Comparison(
        (before.hexsim_version, after.hexsim_version),
        tuple(_case(old, new) for old, new in pairs if old and new),
        tuple(f"{old.network} on {old.runtime}" for old, new in pairs if old and not new),
        tuple(f"{new.network} on {new.runtime}" for old, new in pairs if new and not old),
    )


def _case(before: CaseRead, after: CaseRead) -> CaseChange:
    names = ("chip", "stack", "perf_profile", "buffer")
    conditions = [(name, getattr(before, name), getattr(after, name)) for name in names]
    layers = _paired(before.layers, after.layers, lambda layer: layer.name)
    return CaseChange(
        before.network,
        before.runtime,
        tuple(condition for condition in conditions if condition[1] != condition[2]),
        (
            FigureChange(
                "total inference", "us", before.total_inference_us, after.total_inference_us
            ),
            FigureChange(
                "forward propagate", "us", before.forward_propagate_us, after.forward_propagate_us
            ),
            FigureChange(
                *("initialisation", "us"),
                *(before.initialisation_total_us, after.initialisation_total_us),
            ),
            FigureChange(
                "peak memory", "B", *(_of(c.memory, "peak_bytes") for c in (before, after))
            ),
            FigureChange("energy", "mJ", *(_of(c.energy, "mj") for c in (before, after))),
            FigureChange("SQNR", "dB", *(_of(c.accuracy, "sqnr_db") for c in (before, after))),
        ),
        tuple(_layer(old, new) for old, new in layers),
    )


def _layer(before: LayerRead | None, after: LayerRead | None) -> FigureChange:
    name = next(layer.name for layer in (before, after) if layer is not None)
    return FigureChange(name, "us", _of(before, "us"), _of(after, "us"))


def _of(part: BaseModel | None, name: str) -> float | None:
    return None if part is None else getattr(part, name)


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
