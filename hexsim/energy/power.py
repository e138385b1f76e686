"""The average power of a workload, including inferences that overlap.

The counted energy of inferences adds up. Leakage and clock tree of a domain are counted once while
at least one inference keeps it awake.

Left out: the energy of background clients and of idle time (`hexsim.studies.always_on` has both).
"""

from collections.abc import Iterable, Sequence

from hexsim.datasheets.chips.chip import Chip, Corner
from hexsim.datasheets.estimate import Estimate
from hexsim.energy.account import STATIC, awake, charged
from hexsim.energy.estimate import total
from hexsim.energy.rates import Domain, Rates, rates
from hexsim.timing.results import InferenceTiming, LayerTiming, Overhead
from hexsim.timing.simtime import PS_PER_SECOND

Interval = tuple[int, int]


def average_power_w(timings: Sequence[InferenceTiming], chip: Chip, corner: Corner) -> Estimate:
    """Return the watts from the first call to the last return; 0 if no time passes."""
    rate_ends = rates(chip, corner)
    elapsed_ps = _elapsed_ps(timings)
    if not elapsed_ps:
        return Estimate()
    counted = total(
        estimate
        for timing in timings
        for spent in _charges_of(timing, chip, rate_ends)
        for estimate in spent
    )
    return (counted + _static(timings, rate_ends)) * (PS_PER_SECOND / elapsed_ps)


def _elapsed_ps(timings: Sequence[InferenceTiming]) -> int:
    if not timings:
        return 0
    return max(timing.end_ps for timing in timings) - min(timing.start_ps for timing in timings)


def _charges_of(
    timing: InferenceTiming, chip: Chip, rate_ends: tuple[Rates, Rates, Rates]
) -> Iterable[list[Estimate]]:
    """Yield the joules of the counted parts, charge by charge."""
    energy = charged(timing, chip, rate_ends)
    for layer in (*energy.layers, *energy.overheads):
        yield [spent * 1e-3 for part, spent in layer.parts.items() if part not in STATIC]


def _static(timings: Sequence[InferenceTiming], rate_ends: tuple[Rates, Rates, Rates]) -> Estimate:
    """Return the joules of leakage and clock tree."""
    domains: tuple[Domain, ...] = ("dsp", "hta", "htp")
    seconds = {domain: union_ps(_awake(timings, domain)) / PS_PER_SECOND for domain in domains}
    value, low, high = (
        sum(
            seconds[domain] * (rate.leakage_w[domain] + rate.clock_tree_w[domain])
            for domain in domains
        )
        for rate in rate_ends
    )
    return Estimate(value, low, high)


def _awake(timings: Sequence[InferenceTiming], domain: Domain) -> Iterable[Interval]:
    for timing in timings:
        charges: tuple[LayerTiming | Overhead, ...] = (*timing.layers, *timing.overheads)
        for charge in charges:
            if domain in awake(charge):
                yield charge.start_ps, charge.start_ps + charge.duration_ps


def union_ps(intervals: Iterable[Interval]) -> int:
    """Return the length of the union of all intervals."""
    covered = end = 0
    for start, stop in sorted(intervals):
        if stop > end:
            covered += stop - max(start, end)
            end = stop
    return covered
