"""Several instances at once as JSON: every latency, and what the table says."""

from __future__ import annotations

import json
from typing import Any

from hexsim import __version__
from hexsim.deployment.platform import Platform
from hexsim.reports.throughput_table import PERCENTILES
from hexsim.studies.repetition import Repetition
from hexsim.studies.throughput import CallStatistics, Instance, Throughput
from hexsim.timing.simtime import PS_PER_US


def throughput_json(found: Throughput, platform: Platform) -> str:
    """Return the run as a JSON document."""
    return json.dumps(throughput_facts(found, platform), indent=1) + "\n"


def throughput_facts(found: Throughput, platform: Platform) -> dict[str, Any]:
    """Return the run as data; times in microseconds, utilisation 0 .. 1."""
    limit = found.limit
    return {
        "hexsim_version": __version__,
        "chip": platform.chip.name,
        "stack": platform.stack.name,
        "total": _pace(found.total),
        "gain": found.gain,
        "average_power_mw": {
            "value": found.power_w.value * 1e3,
            "low": found.power_w.low * 1e3,
            "high": found.power_w.high * 1e3,
        },
        "utilisation": {use.resource: use.share for use in found.utilisations},
        "limited_by": None if limit is None else limit.resource,
        "repeats": None if found.repeats is None else _repeats(found.repeats),
        "threads": [_thread(instance) for instance in found.instances],
    }


def _repeats(found: Repetition) -> dict[str, Any]:
    return {
        "period_us": found.period_ps / PS_PER_US,
        "calls": found.calls,
        "simulated": found.simulated,
    }


def _thread(one: Instance) -> dict[str, Any]:
    return {
        "network": one.caller.plan.network.name,
        "runtime": one.caller.plan.runtime,
        "priority": one.caller.priority,
        **_pace(one.pace),
        "latencies_us": [latency / PS_PER_US for latency in one.pace.latencies_ps],
        "alone": _pace(one.alone),
    }


def _pace(pace: CallStatistics) -> dict[str, Any]:
    return {
        "inferences": pace.inferences,
        "elapsed_us": pace.elapsed_ps / PS_PER_US,
        "inferences_per_second": pace.per_second,
        "latency_us": {
            name: pace.percentile_ps(percent) / PS_PER_US for name, percent in PERCENTILES.items()
        },
    }
