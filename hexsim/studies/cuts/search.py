"""The fastest cut: dynamic programming over all legal HTA sections.

The best cut of the first n layers ends with some subnet, after the best cut of the layers before
it. A subnet's price does not depend on its neighbours, so this finds the fastest of all cuts by the
prices of `hexsim.studies.cuts.prices`. It is then simulated, as are the compiler's cut and no cut
at all, and the fastest of the three is chosen. Under the rules of SNPE 1.23, which allow one
section from the first layer on, the best legal section is chosen.
"""

from dataclasses import dataclass

from hexsim.deployment.platform import Platform
from hexsim.planning.sections import all_listed, automatic, single
from hexsim.runtimes import Engine
from hexsim.studies.cuts.prices import Prices, placed
from hexsim.studies.uncertainty import Times, swept

Sections = tuple[range, ...]


@dataclass(frozen=True)
class FastestCut:
    """The fastest sections, the compiler's and none; times of one inference in microseconds.

    The `_ids` are the sections as `--hta-partitions` reads them. `gain` is the default's time over
    the best one's, between `low` and `high` when the constants of the engine and of the hand-over
    are swept.
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


def search(prices: Prices) -> FastestCut:
    """Find the fastest sections for a network on a platform."""
    times = prices.times
    default = automatic(times.model, times.platform.stack.partitioning)
    times_us = {cut: prices.simulated(cut).total_us for cut in ((), default, candidate(prices))}
    best = min(times_us, key=lambda cut: (times_us[cut], len(cut)))

    def gain(changed: Platform) -> Times:
        changed_prices = prices.on(changed)
        ratio = changed_prices.simulated(default).total_us / changed_prices.simulated(best).total_us
        return Times(ratio, ratio)

    if best == default:
        low = high = 1.0
    else:
        doubt = swept(times.platform, gain, "tensor engine")
        low, high = doubt.low.total_us, doubt.high.total_us
    return FastestCut(
        best_ids=all_listed(times.network, best),
        default_ids=all_listed(times.network, default),
        best=best,
        best_us=times_us[best],
        default=default,
        default_us=times_us[default],
        hvx_us=times_us[()],
        low=low,
        high=high,
    )


def candidate(prices: Prices) -> Sections:
    """Return the fastest sections by the sum of prices."""
    times = prices.times
    if times.platform.stack.partitioning.rules == "1.23":
        legal = single.legal(times.network, times.refusals)
        return min(((), *((section,) for section in legal)), key=prices.total_us)
    sections: list[range] = []
    for segment in _segments(prices):
        sections.extend(_fastest(prices, segment))
    return tuple(sections)


def _segments(prices: Prices) -> list[range]:
    return [span for engine, span in placed(prices.cut(())) if engine == "hvx"]


def _fastest(prices: Prices, segment: range) -> list[range]:
    """Return the sections of the fastest cut of a segment of layers inside aip."""
    why = prices.times.refusals
    best: list[tuple[float, int, Engine]] = [(0.0, segment.start, "hvx")]
    for stop in range(segment.start + 1, segment.stop + 1):
        options: list[tuple[float, int, Engine]] = []
        is_legal = True
        for start in range(stop - 1, segment.start - 1, -1):
            is_legal = is_legal and why[start] is None
            before = best[start - segment.start][0]
            span = range(start, stop)
            options.append((before + prices.subnet("hvx", span).us, start, "hvx"))
            if is_legal:
                options.append((before + prices.subnet("hta", span).us, start, "hta"))
        best.append(min(options, key=lambda option: option[0]))
    uncut = prices.subnet("hvx", segment)
    if uncut.us - uncut.dispatch_us <= best[-1][0]:
        return []
    sections, stop = [], segment.stop
    while stop > segment.start:
        _, start, engine = best[stop - segment.start]
        if engine == "hta":
            sections.append(range(start, stop))
        stop = start
    return sections[::-1]
