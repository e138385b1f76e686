"""The fastest cut: dynamic programming over all legal HTA sections.

The best cut of the first n layers ends with some subnet; before it stands the best cut of the
layers before it. A subnet's price does not depend on its neighbours, so this finds the fastest of
all cuts, by the prices of `hexsim.partitioning.prices`. Under the rules of SNPE 1.23, where there
is one section from the first layer on, every legal one is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.partitioning.prices import Prices, placed
from hexsim.platform import Platform
from hexsim.runtimes import Engine
from hexsim.sections import all_listed, automatic, single
from hexsim.uncertainty import Times, swept

Sections = tuple[range, ...]

_SWEPT = ("hta.", "partitioning.")
"""Constants of which next to nothing is published, and which only aip reads."""


@dataclass(frozen=True)
class Found:
    """The fastest sections beside those of the compiler and none at all; times of one inference
    in microseconds.

    The `_ids` are the sections as `--hta-partitions` takes them. `gain` is the default's time over
    the best one's, `low` and `high` where it lies when the constants of the engine and of the
    hand-over are swept.
    """

    best_ids: str
    default_ids: str
    best: Sections
    best_us: float
    default: Sections
    default_us: float
    hvx_us: float
    low: float
    high: float

    @property
    def gain(self) -> float:
        """Time of the default over that of the best cut."""
        return self.default_us / self.best_us


def search(prices: Prices) -> Found:
    """Find the fastest sections for a network on a platform."""
    times = prices.times
    default = automatic(times.model, times.platform.stack.partitioning)
    tried = (default, (), *_candidates(prices))
    best = min(tried, key=lambda sections: (prices.total_us(sections), len(sections)))

    def gain(changed: Platform) -> Times:
        other = prices.on(changed)
        ratio = other.total_us(default) / other.total_us(best)
        return Times(ratio, ratio)

    doubt = swept(times.platform, gain, lambda path: path.startswith(_SWEPT))
    return Found(
        best_ids=all_listed(times.network, best),
        default_ids=all_listed(times.network, default),
        best=best,
        best_us=prices.total_us(best),
        default=default,
        default_us=prices.total_us(default),
        hvx_us=prices.total_us(()),
        low=doubt.low.total_us,
        high=doubt.high.total_us,
    )


def _candidates(prices: Prices) -> Sequence[Sections]:
    times = prices.times
    if times.platform.stack.partitioning.rules == "1.23":
        return [(section,) for section in single.legal(times.network, times.refusals)]
    found: list[range] = []
    for stretch in _stretches(prices):
        found.extend(_fastest(prices, stretch))
    return [tuple(found)]


def _stretches(prices: Prices) -> list[range]:
    """Runs of layers inside aip."""
    return [span for engine, span in placed(prices.cut(())) if engine == "hvx"]


def _fastest(prices: Prices, stretch: range) -> list[range]:
    """The sections of the fastest cut of a stretch of layers inside aip."""
    why = prices.times.refusals
    best: list[tuple[float, int, Engine]] = [(0.0, stretch.start, "hvx")]
    for stop in range(stretch.start + 1, stretch.stop + 1):
        ways: list[tuple[float, int, Engine]] = []
        taken = True
        for start in range(stop - 1, stretch.start - 1, -1):
            taken = taken and why[start] is None
            before = best[start - stretch.start][0]
            span = range(start, stop)
            ways.append((before + prices.subnet("hvx", span).us, start, "hvx"))
            if taken:
                ways.append((before + prices.subnet("hta", span).us, start, "hta"))
        best.append(min(ways, key=lambda way: way[0]))
    sections, stop = [], stretch.stop
    while stop > stretch.start:
        _, start, engine = best[stop - stretch.start]
        if engine == "hta":
            sections.append(range(start, stop))
        stop = start
    return sections[::-1]
