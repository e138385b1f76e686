"""The average power of an alternative by part."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict, get_args

from hexsim.datasheets.estimate import Estimate
from hexsim.energy.estimate import total
from hexsim.results.costs import Range

Part = Literal["inference", "background", "wake-ups", "idle", "ddr"]
PARTS: tuple[Part, ...] = get_args(Part)


class Power(TypedDict):
    """The fields of an alternative that say its power."""

    average_power_mw: Range
    parts_mw: dict[str, Range]


def side_by_side(watts: Sequence[Mapping[Part, float]]) -> Power:
    """Return milliwatts by part from watts at the stated, the lower and the upper constants."""
    value, low, high = watts
    parts = {
        part: Estimate(value[part], low[part], high[part]) * 1e3 for part in PARTS if part in value
    }
    ranges: dict[str, Range] = {part: _range(estimate) for part, estimate in parts.items()}
    return Power(average_power_mw=_range(total(parts.values())), parts_mw=ranges)


def _range(estimate: Estimate) -> Range:
    return Range(value=estimate.value, low=estimate.low, high=estimate.high)
