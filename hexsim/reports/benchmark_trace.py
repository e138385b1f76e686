"""The cases of a benchmark as one trace: a process per case, and one more beside clients."""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.reports.trace import trace_json
from hexsim.studies.benchmark import Case


def benchmark_trace(cases: Sequence[Case]) -> str:
    """Return the trace of cases that were recorded."""
    results = []
    for case in cases:
        name = f"{case.network} on {case.chip} {case.runtime}"
        results.append((name, case.timing))
        if case.interference is not None:
            loads = ", ".join(case.interference.names)
            results.append((f"{name} beside {loads}", case.interference.beside))
    return trace_json(results)
