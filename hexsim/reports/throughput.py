"""Several instances at once as a table, and as JSON with every latency."""

from __future__ import annotations

from typing import Any

from hexsim.deployment.platform import Platform
from hexsim.reports.document import anchor_facts, attributes, json_document
from hexsim.reports.text import table
from hexsim.studies.repetition import Repetition
from hexsim.studies.throughput import CallStatistics, Instance, Throughput
from hexsim.timing.simtime import PS_PER_MS, PS_PER_US

PERCENTILES = {"min": 0, "median": 50, "p90": 90, "p99": 99, "max": 100}
"""The figures of a distribution, by name."""

_HEADER = ("thread", "network", "runtime", "priority", "images", "infs/sec", "alone")
_FIRST_TO_GO = ("min ms", "p90 ms", "max ms", "priority", "images", "alone ms", "alone", "runtime")


def throughput_text(throughput: Throughput) -> str:
    """Return the table of threads (latencies in ms), the utilisation and the verdict."""
    header = (*_HEADER, *(f"{name} ms" for name in PERCENTILES), "alone ms")
    first_to_go = [header.index(name) for name in _FIRST_TO_GO]
    rows = [_row(number, instance) for number, instance in enumerate(throughput.instances)]
    uses = [(use.resource, f"{use.share:.1%}") for use in throughput.utilisations]
    return "\n\n".join(
        (
            table(header, rows, left=frozenset({0, 1, 2, 3}), first_to_go=first_to_go),
            table(("resource", "in use"), uses),
            f"Total throughput: {throughput.total.per_second:.4f} infs/sec, "
            f"{throughput.gain:.2f} times the work of one instance by itself\n"
            f"{power(throughput)}\n{verdict(throughput)}",
            *repeats(throughput),
        )
    )


def power(throughput: Throughput) -> str:
    """Return the sentence on average power."""
    watts = throughput.power_w
    return (
        f"Average power: {watts.value * 1e3:.0f} mW, {watts.low * 1e3:.0f} to "
        f"{watts.high * 1e3:.0f} by assumed constants of energy."
    )


def repeats(throughput: Throughput) -> list[str]:
    """Return a sentence on calls that are not simulated because calls repeat, if there are any."""
    if throughput.repeats is None:
        return []
    period = f"{throughput.repeats.period_ps / PS_PER_MS:.3f} ms"
    return [
        f"Calls repeat every {period}, so {throughput.repeats.simulated} of "
        f"{throughput.total.inferences} are simulated and the others follow."
    ]


def verdict(throughput: Throughput) -> str:
    """Return the sentence that names what limits the throughput."""
    limit = throughput.limit
    if limit is None:
        return (
            "Limited by nothing but the length of the calls: no resource is in use for 90% of the "
            "time, so more instances would raise the throughput."
        )
    return f"Limited by {limit.resource}, in use {limit.share:.1%} of the time."


def _row(number: int, instance: Instance) -> tuple[str, ...]:
    plan = instance.caller.plan
    return (
        f"{number}",
        plan.network.name,
        plan.runtime,
        instance.caller.priority,
        f"{instance.pace.inferences}",
        f"{instance.pace.per_second:.2f}",
        f"{instance.alone.per_second:.2f}",
        *(_ms(instance.pace, percent) for percent in PERCENTILES.values()),
        _ms(instance.alone, 50),
    )


def _ms(statistics: CallStatistics, percent: float) -> str:
    return f"{statistics.percentile_ps(percent) / PS_PER_MS:.2f}"


def throughput_json(throughput: Throughput, platform: Platform) -> str:
    """Return the run as a JSON document."""
    return json_document(throughput_facts(throughput, platform))


def throughput_facts(throughput: Throughput, platform: Platform) -> dict[str, Any]:
    """Return the run as data; times in microseconds, utilisation 0 .. 1."""
    limit = throughput.limit
    return {
        **attributes(platform, "vtcm_mb", chip="chip.name", stack="stack.name", graphs="graphs"),
        **anchor_facts(platform.anchor),
        "total": _statistics(throughput.total),
        "gain": throughput.gain,
        "average_power_mw": {
            "value": throughput.power_w.value * 1e3,
            "low": throughput.power_w.low * 1e3,
            "high": throughput.power_w.high * 1e3,
        },
        "utilisation": {use.resource: use.share for use in throughput.utilisations},
        "limited_by": None if limit is None else limit.resource,
        "repeats": _repeats(throughput.repeats) if throughput.repeats else None,
        "threads": [_thread(instance) for instance in throughput.instances],
    }


def _repeats(repetition: Repetition) -> dict[str, Any]:
    times = attributes(repetition, period_us="period_ps")
    return times | attributes(repetition, "calls", "simulated")


def _thread(instance: Instance) -> dict[str, Any]:
    return {
        **attributes(instance.caller, network="plan.network.name", runtime="plan.runtime"),
        "priority": instance.caller.priority,
        **_statistics(instance.pace),
        **attributes(instance.pace, latencies_us="latencies_ps"),
        "alone": _statistics(instance.alone),
    }


def _statistics(statistics: CallStatistics) -> dict[str, Any]:
    return {
        **attributes(statistics, "inferences", elapsed_us="elapsed_ps"),
        "inferences_per_second": statistics.per_second,
        "latency_us": {
            name: statistics.percentile_ps(percent) / PS_PER_US
            for name, percent in PERCENTILES.items()
        },
    }
