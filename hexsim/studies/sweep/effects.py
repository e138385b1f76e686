"""Which parameter matters: the part of a result's variance that goes with it, and with each pair.

Looked at are logarithms, so that a parameter which halves a time counts alike wherever it does. For
one parameter the points are grouped by its value (a drawn one by tenths of its draws); its part is
the variance between the groups. What a pair adds to its two is their interaction. Chance alone
makes groups differ: what it would make on average is taken off, so small parts may come out as 0.

On a full grid parts of parameters and pairs add up to one, but for triples and more.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hexsim.studies.sweep.table import Swept

Key = TypeVar("Key")
Groups = npt.NDArray[np.int64]
_MOST_GROUPS = 10


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
    values = np.asarray(swept.table[result].to_numpy(zero_copy_only=False), np.float64)
    taken = np.isfinite(values) & (values > 0)
    logs = np.log(values[taken])
    if len(logs) < 2 or not np.ptp(logs):
        return Effects(result, 1.0, {}, {})
    groups = {name: _groups(swept, name)[taken] for name in swept.varied}
    alone = {name: _between(logs, of) for name, of in groups.items()}
    together = {}
    for one, other in itertools.combinations(groups, 2):
        cells = groups[one] * (groups[other].max() + 1) + groups[other]
        together[one, other] = max(0.0, _between(logs, cells) - alone[one] - alone[other])
    low, high = np.percentile(values[taken], (5, 95))
    return Effects(result, float(high / low), _sorted(alone), _sorted(together))


def _groups(swept: Swept, name: str) -> Groups:
    """The group of each row."""
    column = swept.table[name].to_numpy(zero_copy_only=False)
    values, group = np.unique(column.astype(str) if column.dtype == object else column, False, True)
    if len(values) <= 2 * _MOST_GROUPS:
        return np.asarray(group, np.int64)
    edges = np.quantile(column, np.linspace(0, 1, _MOST_GROUPS + 1)[1:-1])
    return np.asarray(np.searchsorted(edges, column, side="right"), np.int64)


def _between(logs: npt.NDArray[np.float64], group: Groups) -> float:
    """The part of the variance that lies between groups, less what chance makes (0 .. 1)."""
    counts = np.bincount(group)
    sums = np.bincount(group, logs)
    used = counts > 0
    means = sums[used] / counts[used]
    between = float(counts[used] @ (means - logs.mean()) ** 2)
    whole = float(((logs - logs.mean()) ** 2).sum())
    spare = len(logs) - len(means)
    chance = (len(means) - 1) * (whole - between) / spare if spare else 0.0
    return min(1.0, max(0.0, (between - chance) / whole))


def _sorted(parts: Mapping[Key, float]) -> dict[Key, float]:
    return dict(sorted(parts.items(), key=lambda item: -item[1]))
