"""The Pareto front: points for which no other is better in one figure and not worse in the others.

A point is compared only with points of the same network: a smaller network is not a design choice.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, spelled, unknown
from hexsim.studies.sweep.table import Swept

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


def figure(swept: Swept, name: str) -> str:
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
        column = numbers(swept, figure(swept, name))
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
    order = [int(row) for row in np.lexsort(columns[::-1]) if valid.item(row)]
    networks = swept.table["network"].to_pylist()
    chosen: dict[str, list[int]] = {network: [] for network in networks}
    for row in order:
        best = chosen[networks[row]]
        if not any((values[better] <= values[row]).all() for better in best):
            best.append(row)
    return [row for rows in chosen.values() for row in rows]
