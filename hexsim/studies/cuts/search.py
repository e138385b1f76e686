"""The fastest cut: dynamic programming over all legal HTA sections.

The best cut of the first n layers ends with some subnet; before it stands the best cut of the
layers before it. A subnet's price does not depend on its neighbours, so this finds the fastest of
all cuts, by the prices of `hexsim.studies.cuts.prices`. It is then simulated, as are the compiler's
cut and no cut at all, and the fastest of them taken. Under the rules of SNPE 1.23, where there
is one section from the first layer on, the best of the legal ones is.
"""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.deployment.platform import Platform
from hexsim.planning.sections import all_listed, automatic, single
from hexsim.runtimes import Engine
from hexsim.studies.cuts.prices import Prices, placed
from hexsim.studies.uncertainty import Times, swept

Sections = tuple[range, ...]


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
    tried = {cut: prices.simulated(cut).total_us for cut in ((), default, candidate(prices))}
    best = min(tried, key=lambda cut: (tried[cut], len(cut)))

    def gain(changed: Platform) -> Times:
        other = prices.on(changed)
        ratio = other.simulated(default).total_us / other.simulated(best).total_us
        return Times(ratio, ratio)

    if best == default:
        low = high = 1.0
    else:
        doubt = swept(times.platform, gain, "tensor engine")
        low, high = doubt.low.total_us, doubt.high.total_us
    return Found(
        best_ids=all_listed(times.network, best),
        default_ids=all_listed(times.network, default),
        best=best,
        best_us=tried[best],
        default=default,
        default_us=tried[default],
        hvx_us=tried[()],
        low=low,
        high=high,
    )


def candidate(prices: Prices) -> Sections:
    """The fastest sections by the sum of prices."""
    times = prices.times
    if times.platform.stack.partitioning.rules == "1.23":
        legal = single.legal(times.network, times.refusals)
        return min(((), *((section,) for section in legal)), key=prices.total_us)
    found: list[range] = []
    for stretch in _stretches(prices):
        found.extend(_fastest(prices, stretch))
    return tuple(found)


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
    whole = prices.subnet("hvx", stretch)
    if whole.us - whole.dispatch_us <= best[-1][0]:
        return []
    sections, stop = [], stretch.stop
    while stop > stretch.start:
        _, start, engine = best[stop - stretch.start]
        if engine == "hta":
            sections.append(range(start, stop))
        stop = start
    return sections[::-1]
