"""Several instances at once: a row per thread, how busy each resource is, and what limits."""

from __future__ import annotations

from hexsim.reports.text import table
from hexsim.studies.throughput import CallStatistics, Instance, Throughput
from hexsim.timing.simtime import PS_PER_MS

PERCENTILES = {"min": 0, "median": 50, "p90": 90, "p99": 99, "max": 100}
"""The figures of a distribution, by name."""

_HEADER = ("thread", "network", "runtime", "priority", "images", "infs/sec", "alone")
_FIRST_TO_GO = ("min ms", "p90 ms", "max ms", "priority", "images", "alone ms", "alone", "runtime")


def throughput_text(found: Throughput) -> str:
    """Return the table of threads (latencies in ms), the utilisation and the verdict."""
    header = (*_HEADER, *(f"{name} ms" for name in PERCENTILES), "alone ms")
    going = [header.index(name) for name in _FIRST_TO_GO]
    rows = [_row(number, instance) for number, instance in enumerate(found.instances)]
    uses = [(use.resource, f"{use.share:.1%}") for use in found.utilisations]
    return "\n\n".join(
        (
            table(header, rows, left=frozenset({0, 1, 2, 3}), first_to_go=going),
            table(("resource", "in use"), uses),
            f"Total throughput: {found.total.per_second:.4f} infs/sec, {found.gain:.2f} times the "
            f"work of one instance by itself\n{power(found)}\n{verdict(found)}",
            *repeats(found),
        )
    )


def power(found: Throughput) -> str:
    """Return the sentence on average power."""
    watts = found.power_w
    return (
        f"Average power: {watts.value * 1e3:.0f} mW, {watts.low * 1e3:.0f} to "
        f"{watts.high * 1e3:.0f} by assumed constants of energy."
    )


def repeats(found: Throughput) -> list[str]:
    """Return the sentence that tells of calls that follow from a period, if there are some."""
    if found.repeats is None:
        return []
    period = f"{found.repeats.period_ps / PS_PER_MS:.3f} ms"
    return [
        f"Calls repeat every {period}, so {found.repeats.simulated} of {found.total.inferences} "
        "are simulated and the others follow."
    ]


def verdict(found: Throughput) -> str:
    """Return the sentence that names what limits the throughput."""
    limit = found.limit
    if limit is None:
        return (
            "Limited by nothing but the length of the calls: no resource is in use for 90% of the "
            "time, so more instances would raise the throughput."
        )
    return f"Limited by {limit.resource}, in use {limit.share:.1%} of the time."


def _row(number: int, one: Instance) -> tuple[str, ...]:
    plan = one.caller.plan
    return (
        f"{number}",
        plan.network.name,
        plan.runtime,
        one.caller.priority,
        f"{one.pace.inferences}",
        f"{one.pace.per_second:.2f}",
        f"{one.alone.per_second:.2f}",
        *(_ms(one.pace, percent) for percent in PERCENTILES.values()),
        _ms(one.alone, 50),
    )


def _ms(pace: CallStatistics, percent: float) -> str:
    return f"{pace.percentile_ps(percent) / PS_PER_MS:.2f}"
