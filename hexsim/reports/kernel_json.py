"""One kernel as JSON."""

from __future__ import annotations

import json

from hexsim import __version__
from hexsim.reports.kernel_facts import blocking_facts, cost_facts, stream_facts
from hexsim.studies.kernel_probe import KernelProbe


def kernel_json(probe: KernelProbe) -> str:
    """Return everything that the text report shows; loops are given once, not unrolled."""
    document = {
        "hexsim_version": __version__,
        "kernel": probe.kind,
        "shape": probe.shape,
        "chip": probe.chip,
        "stack": probe.stack,
        "inputs": probe.call.operands,
        "outputs": probe.call.results,
        "blocking": blocking_facts(probe),
        "cost": cost_facts(probe),
        "streams": [stream_facts(kernel, probe.peak_macs_per_packet) for kernel in probe.streams],
    }
    return json.dumps(document, indent=1) + "\n"
