"""Several instances at once as text."""

from hexsim.reports.text import table
from hexsim.results.throughput import PERCENTILES, Calls, Thread, Throughput
from hexsim.texts.figures import figure

_HEADER = ("thread", "network", "runtime", "priority", "images", "infs/sec", "alone infs/sec")
_FIRST_TO_GO = (
    *("min ms", "p90 ms", "max ms", "priority", "images", "alone ms", "alone infs/sec"),
    "runtime",
)


def throughput_text(throughput: Throughput) -> str:
    """Return the table of threads (latencies in ms), the utilisation and the verdict."""
    header = (*_HEADER, *(f"{name} ms" for name in PERCENTILES), "alone ms")
    first_to_go = [header.index(name) for name in _FIRST_TO_GO]
    rows = [_row(number, thread) for number, thread in enumerate(throughput.threads)]
    uses = [(resource, f"{share:.0%}") for resource, share in throughput.utilisation.items()]
    rate = figure(throughput.total.inferences_per_second)
    milliwatts = throughput.average_power_mw
    return "\n\n".join(
        (
            f"{throughput.chip}, {throughput.software}, {throughput.perf_profile}",
            table(header, rows, left=frozenset({0, 1, 2, 3}), first_to_go=first_to_go),
            table(("resource", "in use"), uses),
            f"Total throughput: {rate} infs/sec, "
            f"{figure(throughput.gain)} times the work of one instance by itself\n"
            f"Average power: {figure(milliwatts.value)} mW, {figure(milliwatts.low)} to "
            f"{figure(milliwatts.high)} by assumed constants of energy.\n{_verdict(throughput)}",
            *repeats(throughput),
        )
    )


def repeats(throughput: Throughput) -> list[str]:
    """Return a sentence on calls that are not simulated because calls repeat, if there are any."""
    if throughput.repeats is None:
        return []
    period = f"{figure(throughput.repeats.period_us / 1e3)} ms"
    return [
        f"Calls repeat every {period}, so {throughput.repeats.simulated} of "
        f"{throughput.total.inferences} are simulated and the others follow."
    ]


def _verdict(throughput: Throughput) -> str:
    """Return the sentence that names what limits the throughput."""
    if throughput.limited_by is None:
        return (
            "Limited by nothing but the length of the calls: no resource is in use for 90% of the "
            "time, so more instances would raise the throughput."
        )
    share = throughput.utilisation[throughput.limited_by]
    return f"Limited by {throughput.limited_by}, in use {share:.0%} of the time."


def _row(number: int, thread: Thread) -> tuple[str, ...]:
    return (
        f"{number}",
        thread.network,
        thread.runtime,
        thread.priority,
        f"{thread.inferences}",
        figure(thread.inferences_per_second),
        figure(thread.alone.inferences_per_second),
        *(_ms(thread, name) for name in PERCENTILES),
        _ms(thread.alone, "median"),
    )


def _ms(calls: Calls, percentile: str) -> str:
    return figure(calls.latency_us[percentile] / 1e3)
