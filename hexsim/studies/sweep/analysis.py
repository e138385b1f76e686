"""The answer of a sweep: the Pareto front of some figures, and which parameter matters.

The front has the points for which no other is better in one figure and not worse in the others. A
point is compared only with points of the same network: a smaller network is not a design choice.

A parameter matters by its share of a result's variance, alone and in pairs.

The analysis uses logarithms, so that a parameter which halves a time counts the same everywhere.
Networks differ by themselves, so the mean of each is subtracted first. For one parameter the points
are grouped by its value (by tenths if it has many values); its share is the variance between the
groups. The remainder after all parameters is divided among pairs: this is their interaction, as of
a constant that matters to one network and not to another.

The part explained by one parameter is subtracted before the next, in the order of the columns, and
likewise for pairs. On a full grid the order makes no difference. Otherwise it prevents double
counting: a stack that goes with its chip has no share beside the chip's, and a cut that only one
runtime has gets what it changes there.

Groups of random draws differ by chance: the expected value of this is subtracted, so small shares
of drawn parameters may come out as 0. On a full grid nothing is subtracted, and the shares of
parameters and pairs add up to one, except for triples and more.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hexsim import budget
from hexsim.errors import HexsimError, spelled, unknown
from hexsim.results.costs import TimeError
from hexsim.results.sweep import Effects, PairEffect, Sweep
from hexsim.studies.inferences import anchor_fields
from hexsim.studies.sweep.table import Swept
from hexsim.texts.tables import tree_of

Key = TypeVar("Key")
Groups = npt.NDArray[np.int64]
Logs = npt.NDArray[np.float64]
_MOST_GROUPS = 10
_POINTS_OF_A_PAIR = 1000
"""A pair takes as long by itself as this number of points do (measured)."""
_NETWORK = "network"
Mask = npt.NDArray[np.bool_]

_MORE_IS_BETTER = frozenset({"inferences_per_s", "tokens_per_s"})
_OPERATORS: Mapping[str, Callable[[npt.NDArray[np.float64], float], Mask]] = {
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "==": np.equal,
    "<": np.less,
    ">": np.greater,
}
_OPERATOR = re.compile("|".join(_OPERATORS))


def analysed(
    swept: Swept, pareto: str | Sequence[str], best: str | None = None, where: str = "the sweep"
) -> Sweep:
    """Return the front of the figures in `pareto` among the points that satisfy `best`.

    `where` names the results for messages. Raises HexsimError for an unknown figure, for a text
    that is no condition, and if there is no point to show.
    """
    names = pareto.split(",") if isinstance(pareto, str) else pareto
    figures = tuple(dict.fromkeys(figure_of(swept, name.strip()) for name in names))
    among = satisfying(swept, best) if best is not None else None
    rows = front(swept, figures, among)
    refusals = [text for text in swept.table["refusal"].to_pylist() if text]
    if not rows and best is None:
        raise HexsimError(
            f"all points of '{where}' were refused, the first because {next(iter(refusals), None)}"
        )
    if not rows:
        raise HexsimError(f"no point of '{where}' satisfies \"{best}\"; ask for less")
    outside = swept.table["outside_bounds"].unique().to_pylist()
    anchor, known = swept.space.measured, dict[str, TimeError]()
    if anchor is None and not swept.space.constants:
        places = swept.table.take(rows).select(["chip", "stack", "runtime"]).to_pylist()
        for row in places:
            error = TimeError.of(**row)
            known |= {} if error is None else {f"{row['chip']} {row['runtime']}": error}
    return Sweep(
        version=swept.version,
        space=tree_of(swept.space),
        **anchor_fields(anchor),
        points=swept.table.num_rows,
        varied=swept.varied,
        figures=figures,
        front=tuple(swept.table.take(rows).to_pylist()),
        effects=tuple(effects(swept, name) for name in figures),
        calibration="" if anchor is None else f"calibrated with {anchor.description}",
        expected_errors=known,
        refused=len(refusals),
        refusal=next(iter(refusals), None),
        outside_bounds=tuple(sorted({path for paths in outside for path in paths.split()})),
        table=swept.table,
        front_rows=tuple(rows),
    )


def figure_of(swept: Swept, name: str) -> str:
    """Return the column of a figure by its name or the beginning of it: latency for latency_ms.

    Of several columns with this beginning the one of fewest words counts: energy_mj, not
    energy_low_mj.
    """
    numbers = [*swept.results, *swept.space.constants, "instances", "idle_ms"]
    if name in numbers:
        return name
    candidates = [number for number in numbers if number.startswith(f"{name}_")]
    fewest = min((candidate.count("_") for candidate in candidates), default=0)
    shortest = [candidate for candidate in candidates if candidate.count("_") == fewest]
    if len(shortest) == 1:
        return shortest[0]
    raise unknown("figure", name, numbers)


def numbers(swept: Swept, name: str) -> npt.NDArray[np.float64]:
    """Return a column of numbers; NaN where a point was refused."""
    return np.asarray(swept.table[name].to_numpy(zero_copy_only=False), np.float64)


def satisfying(swept: Swept, condition: str) -> Mask:
    """Return the rows that satisfy "latency_ms < 5", or several conditions joined by "and"."""
    rows = np.ones(swept.table.num_rows, np.bool_)
    for part in condition.split(" and "):
        operator = _OPERATOR.search(part)
        try:
            value = float(part[operator.end() :]) if operator else math.nan
        except ValueError:
            value = math.nan
        name = part[: operator.start()].strip() if operator else ""
        if operator is None or not name or math.isnan(value):
            raise HexsimError(
                f"{spelled('best')} '{condition}' is no condition; write one such as \"latency_ms "
                '< 5", and '
                'several as "latency_ms < 5 and initialisation_ms < 100"'
            )
        column = numbers(swept, figure_of(swept, name))
        rows = rows & _OPERATORS[operator[0]](column, value)
    return rows


def front(swept: Swept, figures: Sequence[str], among: Mask | None = None) -> list[int]:
    """Return the rows on each network's front of some figures, the best in the first figure first.

    Networks come in the order of the rows. Of rows that are equal in all figures, only the first
    one is returned.
    """
    columns = [numbers(swept, name) * (-1 if name in _MORE_IS_BETTER else 1) for name in figures]
    values = np.stack(columns, axis=1)
    valid = np.isfinite(values).all(axis=1, keepdims=False) & (True if among is None else among)
    order = np.lexsort(columns[::-1])
    order = order[np.asarray(valid)[order]]
    networks = swept.table["network"].combine_chunks().dictionary_encode().indices.to_numpy()
    order = order[np.argsort(networks[order], kind="stable")]
    chosen: list[int] = []
    for rows in np.split(order, np.flatnonzero(np.diff(networks[order])) + 1):
        for row in _unbeaten(rows, values):
            chosen.append(row)
            budget.require(budget.FRONT, len(chosen), f"the front of {', '.join(figures)}")
    return chosen


def _unbeaten(rows: Groups, values: npt.NDArray[np.float64]) -> Iterator[int]:
    """Yield those of `rows`, which are in the order of their values, that no other one beats.

    In the first figure, none is better than one before it.
    """
    others = values[rows, 1:].T.copy()
    while len(rows):
        yield int(rows[0])
        first, rows, others = others[:, :1], rows[1:], others[:, 1:]
        better = (others < first).any(axis=0)
        if not better.all():
            rows, others = rows[better], others[:, better]


def effects(swept: Swept, result: str) -> Effects:
    """Divide the variance of a result's logarithm among the parameters that vary.

    Refused points are left out. The result's column holds positive numbers.
    """
    values: Logs = np.asarray(swept.table[result].to_numpy(zero_copy_only=False), np.float64)
    valid = np.isfinite(values) & (values > 0)
    logs = np.log(values[valid])
    if len(logs) < 2 or not np.ptp(logs):
        return Effects(figure=result, spread=1.0)
    names = swept.varied
    paired = math.comb(len(names), 2) * (len(logs) + _POINTS_OF_A_PAIR)
    budget.require(budget.PAIRED, paired, f"what matters to {result} in {len(logs)} points")
    groups = {name: _numbered(_groups(swept, name)[valid]) for name in names}
    parameters = {name: group for name, group in groups.items() if name != _NETWORK}
    network = groups.get(_NETWORK, np.zeros(len(logs), np.int64))
    random = set(swept.space.drawn)
    residual = logs - _means(logs, network)[network]
    variance = float((residual**2).sum()) or 1.0
    between = {}
    for name, group in parameters.items():
        between[name] = _between(residual, group)
        residual = residual - _means(residual, group)[group]
    freedom = len(logs) - 1 - sum(int(group.max()) for group in groups.values())
    noise = float((residual**2).sum()) / freedom if freedom > 0 else 0.0
    alone = {
        name: _part(between[name], group, noise if name in random else 0.0, variance)
        for name, group in parameters.items()
    }
    together = {}
    for first, second in itertools.combinations(groups, 2):
        cells = _numbered(groups[first] * (groups[second].max() + 1) + groups[second])
        by_chance = _within(residual, cells) if random & {first, second} else 0.0
        together[first, second] = _part(_between(residual, cells), cells, by_chance, variance)
        if not random & {first, second}:
            residual = residual - _means(residual, cells)[cells]
    low, high = np.percentile(values[valid], (5, 95))
    pairs = _sorted(together).items()
    return Effects(
        figure=result,
        spread=float(high / low),
        alone=_sorted(alone),
        together=tuple(PairEffect(parameters=names, part=part) for names, part in pairs),
    )


def _groups(swept: Swept, name: str) -> Groups:
    """Return the group of each row, numbered from 0; there are no tenths of texts."""
    values = swept.table[name]
    if values.type == "string":  # each text is there once; arrays of numpy have it for each row
        texts = values.combine_chunks().dictionary_encode(null_encoding="encode")
        return _numbered(texts.indices.to_numpy())
    column = values.to_numpy(zero_copy_only=False)
    group = _numbered(column)
    if group.max() < 2 * _MOST_GROUPS:
        return group
    edges = np.quantile(column, np.linspace(0, 1, _MOST_GROUPS + 1)[1:-1])
    return _numbered(np.searchsorted(edges, column, side="right"))


def _numbered(column: npt.NDArray[Any]) -> Groups:
    return np.asarray(np.unique(column, return_inverse=True)[1], np.int64)


def _means(values: Logs, group: Groups) -> Logs:
    means: Logs = np.bincount(group, values) / np.bincount(group)
    return means


def _within(values: Logs, group: Groups) -> float:
    """Return the variance within groups; 0 where each has a single point."""
    spare = len(values) - 1 - int(group.max())
    return float(((values - _means(values, group)[group]) ** 2).sum()) / spare if spare else 0.0


def _between(values: Logs, group: Groups) -> float:
    return float(np.bincount(group) @ _means(values, group) ** 2)


def _part(between: float, group: Groups, noise: float, total: float) -> float:
    """Return a sum of squares, less its expected noise, as a share of the `total` one."""
    return min(1.0, max(0.0, (between - int(group.max()) * noise) / total))


def _sorted(parts: Mapping[Key, float]) -> dict[Key, float]:
    return dict(sorted(parts.items(), key=lambda item: -item[1]))
