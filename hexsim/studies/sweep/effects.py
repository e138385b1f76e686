"""Which parameter matters: the part of a result's variance that goes with it, and with each pair.

Looked at are logarithms, so that a parameter which halves a time counts alike wherever it does.
Networks differ by themselves, so the mean of each is taken off first. For one parameter the points
are grouped by its value (one with many values by tenths); its part is the variance between the
groups. What is left when all parameters have had their parts is looked at by pairs: that is their
interaction, as of a constant that matters to one network and not to another.

What one parameter has explained is taken off before the next is looked at, in the order of the
columns, and so are pairs. On a full grid the order makes no difference. Else it counts things once:
a stack that goes with its chip has no part beside the chip's, and a cut that only one runtime has
gets what it changes there.

Groups of draws differ by chance alone: what that makes on average is taken off, so small parts of
what is drawn may come out as 0. On a full grid nothing is taken off, and parts of parameters and
pairs add up to one, but for triples and more.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hexsim.studies.sweep.table import Swept

Key = TypeVar("Key")
Groups = npt.NDArray[np.int64]
Logs = npt.NDArray[np.float64]
_MOST_GROUPS = 10
_NETWORK = "network"


@dataclass(frozen=True)
class Effects:
    """Parts of the variance of the logarithm of `result`, 0 .. 1, the largest first.

    `spread` is the ratio of the 95th to the 5th percentile of the result itself.
    """

    result: str
    spread: float
    alone: Mapping[str, float]
    together: Mapping[tuple[str, str], float]


def effects(swept: Swept, result: str) -> Effects:
    """Divide the variance of a result among the parameters that vary; refused points are left out.

    The result's column holds positive numbers.
    """
    values: Logs = np.asarray(swept.table[result].to_numpy(zero_copy_only=False), np.float64)
    taken = np.isfinite(values) & (values > 0)
    logs = np.log(values[taken])
    if len(logs) < 2 or not np.ptp(logs):
        return Effects(result, 1.0, {}, {})
    groups = {name: _numbered(_groups(swept, name)[taken]) for name in swept.varied}
    own = {name: group for name, group in groups.items() if name != _NETWORK}
    network = groups.get(_NETWORK, np.zeros(len(logs), np.int64))
    drawn = set(swept.space.drawn)
    rest = logs - _means(logs, network)[network]
    whole = float((rest**2).sum()) or 1.0
    between = {}
    for name, group in own.items():
        between[name] = _between(rest, group)
        rest = rest - _means(rest, group)[group]
    freedom = len(logs) - 1 - sum(int(group.max()) for group in groups.values())
    noise = float((rest**2).sum()) / freedom if freedom > 0 else 0.0
    alone = {
        name: _part(between[name], group, noise if name in drawn else 0.0, whole)
        for name, group in own.items()
    }
    together = {}
    for one, other in itertools.combinations(groups, 2):
        cells = _numbered(groups[one] * (groups[other].max() + 1) + groups[other])
        by_chance = _within(rest, cells) if drawn & {one, other} else 0.0
        together[one, other] = _part(_between(rest, cells), cells, by_chance, whole)
        if not drawn & {one, other}:
            rest = rest - _means(rest, cells)[cells]
    low, high = np.percentile(values[taken], (5, 95))
    return Effects(result, float(high / low), _sorted(alone), _sorted(together))


def _groups(swept: Swept, name: str) -> Groups:
    """The group of each row, numbered from 0."""
    column = swept.table[name].to_numpy(zero_copy_only=False)
    group = _numbered(column.astype(str) if column.dtype == object else column)
    if group.max() < 2 * _MOST_GROUPS:
        return group
    edges = np.quantile(column, np.linspace(0, 1, _MOST_GROUPS + 1)[1:-1])
    return _numbered(np.searchsorted(edges, column, side="right"))


def _numbered(column: npt.NDArray[Any]) -> Groups:
    return np.asarray(np.unique(column, return_inverse=True)[1], np.int64)


def _means(values: Logs, group: Groups) -> Logs:
    """The mean of each group."""
    means: Logs = np.bincount(group, values) / np.bincount(group)
    return means


def _within(values: Logs, group: Groups) -> float:
    """The variance within groups; 0 where each has one point alone."""
    spare = len(values) - 1 - int(group.max())
    return float(((values - _means(values, group)[group]) ** 2).sum()) / spare if spare else 0.0


def _between(values: Logs, group: Groups) -> float:
    """The sum of squares between groups."""
    return float(np.bincount(group) @ _means(values, group) ** 2)


def _part(between: float, group: Groups, noise: float, whole: float) -> float:
    """What a sum of squares is of the `whole` one, less what `noise` makes of it."""
    return min(1.0, max(0.0, (between - int(group.max()) * noise) / whole))


def _sorted(parts: Mapping[Key, float]) -> dict[Key, float]:
    return dict(sorted(parts.items(), key=lambda item: -item[1]))
