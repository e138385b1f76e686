"""Which parameter matters: the share of a result's variance explained by it, and by each pair.

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
    valid = np.isfinite(values) & (values > 0)
    logs = np.log(values[valid])
    if len(logs) < 2 or not np.ptp(logs):
        return Effects(result, 1.0, {}, {})
    groups = {name: _numbered(_groups(swept, name)[valid]) for name in swept.varied}
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
    return Effects(result, float(high / low), _sorted(alone), _sorted(together))


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
