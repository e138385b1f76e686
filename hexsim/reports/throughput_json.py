"""Several instances at once as JSON: every latency, and the figures of the table."""

from __future__ import annotations

import json
from typing import Any

from hexsim import __version__
from hexsim.deployment.platform import Platform
from hexsim.reports.throughput_table import PERCENTILES
from hexsim.studies.repetition import Repetition
from hexsim.studies.throughput import CallStatistics, Instance, Throughput
from hexsim.timing.simtime import PS_PER_US


def throughput_json(throughput: Throughput, platform: Platform) -> str:
    """Return the run as a JSON document."""
    return json.dumps(throughput_facts(throughput, platform), indent=1) + "\n"


def throughput_facts(throughput: Throughput, platform: Platform) -> dict[str, Any]:
    """Return the run as data; times in microseconds, utilisation 0 .. 1."""
    limit = throughput.limit
    return {
        "hexsim_version": __version__,
        "chip": platform.chip.name,
        "stack": platform.stack.name,
        "total": _statistics(throughput.total),
        "gain": throughput.gain,
        "average_power_mw": {
            "value": throughput.power_w.value * 1e3,
            "low": throughput.power_w.low * 1e3,
            "high": throughput.power_w.high * 1e3,
        },
        "utilisation": {use.resource: use.share for use in throughput.utilisations},
        "limited_by": None if limit is None else limit.resource,
        "repeats": None if throughput.repeats is None else _repeats(throughput.repeats),
        "threads": [_thread(instance) for instance in throughput.instances],
    }


def _repeats(repetition: Repetition) -> dict[str, Any]:
    return {
        "period_us": repetition.period_ps / PS_PER_US,
        "calls": repetition.calls,
        "simulated": repetition.simulated,
    }


def _thread(instance: Instance) -> dict[str, Any]:
    return {
        "network": instance.caller.plan.network.name,
        "runtime": instance.caller.plan.runtime,
        "priority": instance.caller.priority,
        **_statistics(instance.pace),
        "latencies_us": [latency / PS_PER_US for latency in instance.pace.latencies_ps],
        "alone": _statistics(instance.alone),
    }


def _statistics(statistics: CallStatistics) -> dict[str, Any]:
    return {
        "inferences": statistics.inferences,
        "elapsed_us": statistics.elapsed_ps / PS_PER_US,
        "inferences_per_second": statistics.per_second,
        "latency_us": {
            name: statistics.percentile_ps(percent) / PS_PER_US
            for name, percent in PERCENTILES.items()
        },
    }
