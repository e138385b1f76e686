"""Several instances at once as a table, and as JSON with every latency."""

from hexsim.reports.anchor import anchor_keys
from hexsim.reports.document import Record, plain
from hexsim.reports.text import table
from hexsim.studies.throughput import CallStatistics, Instance, Throughput
from hexsim.texts.figures import figure
from hexsim.timing.simtime import PS_PER_MS, PS_PER_US

PERCENTILES = {"min": 0, "median": 50, "p90": 90, "p99": 99, "max": 100}
"""The figures of a distribution, by name."""

_HEADER = ("thread", "network", "runtime", "priority", "images", "infs/sec", "alone infs/sec")
_FIRST_TO_GO = (
    *("min ms", "p90 ms", "max ms", "priority", "images", "alone ms", "alone infs/sec"),
    "runtime",
)


def throughput_text(throughput: Throughput) -> str:
    """Return the table of threads (latencies in ms), the utilisation and the verdict."""
    header = (*_HEADER, *(f"{name} ms" for name in PERCENTILES), "alone ms")
    first_to_go = [header.index(name) for name in _FIRST_TO_GO]
    rows = [_row(number, instance) for number, instance in enumerate(throughput.instances)]
    uses = [(use.resource, f"{use.share:.0%}") for use in throughput.utilisations]
    return "\n\n".join(
        (
            table(header, rows, left=frozenset({0, 1, 2, 3}), first_to_go=first_to_go),
            table(("resource", "in use"), uses),
            f"Total throughput: {figure(throughput.total.per_second)} infs/sec, "
            f"{figure(throughput.gain)} times the work of one instance by itself\n"
            f"{power(throughput)}\n{verdict(throughput)}",
            *repeats(throughput),
        )
    )


def power(throughput: Throughput) -> str:
    """Return the sentence on average power."""
    watts = throughput.power_w
    return (
        f"Average power: {figure(watts.value * 1e3)} mW, {figure(watts.low * 1e3)} to "
        f"{figure(watts.high * 1e3)} by assumed constants of energy."
    )


def repeats(throughput: Throughput) -> list[str]:
    """Return a sentence on calls that are not simulated because calls repeat, if there are any."""
    if throughput.repeats is None:
        return []
    period = f"{figure(throughput.repeats.period_ps / PS_PER_MS)} ms"
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
    return f"Limited by {limit.resource}, in use {limit.share:.0%} of the time."


def _row(number: int, instance: Instance) -> tuple[str, ...]:
    plan = instance.caller.plan
    return (
        f"{number}",
        plan.network.name,
        plan.runtime,
        instance.caller.priority,
        f"{instance.pace.inferences}",
        figure(instance.pace.per_second),
        figure(instance.alone.per_second),
        *(_ms(instance.pace, percent) for percent in PERCENTILES.values()),
        _ms(instance.alone, 50),
    )


def _ms(statistics: CallStatistics, percent: float) -> str:
    return figure(statistics.percentile_ps(percent) / PS_PER_MS)


_statistics = Record(
    "The calls of a thread, or of all; latencies by percentile.",
    "inferences elapsed_us=elapsed_ps inferences_per_second=per_second",
    {
        "latency_us": lambda calls: {
            name: calls.percentile_ps(percent) / PS_PER_US for name, percent in PERCENTILES.items()
        }
    },
)

_thread = Record(
    "An instance of a network, and how it runs by itself.",
    ("caller", "network=plan.network.name runtime=plan.runtime priority"),
    ("pace", _statistics, "latencies_us=latencies_ps"),
    {"alone": ("alone", _statistics)},
)

throughput_facts = Record(
    "What throughput found.",
    ("platform", "vtcm_mb chip=chip.name stack=stack.name graphs", anchor_keys),
    (
        "throughput",
        {"total": ("total", _statistics)},
        "gain",
        {
            "average_power_mw": lambda run: {
                end: watts * 1e3 for end, watts in plain(run.power_w).items()
            },
            "utilisation": lambda run: {use.resource: use.share for use in run.utilisations},
        },
        "limited_by=limit.resource",
        {"repeats": ("repeats", Record("", "period_us=period_ps calls simulated"))},
        {"threads": ("instances", [_thread])},
    ),
    results="throughput platform",
)
