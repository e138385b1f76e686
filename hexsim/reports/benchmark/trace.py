"""The cases of a benchmark as one trace: a process per case, and one more with clients."""

from collections.abc import Sequence
from dataclasses import replace

from hexsim.memory import Footprint
from hexsim.reports.trace.events import trace_json
from hexsim.studies.benchmark import Case
from hexsim.timing.results import Level, Result


def benchmark_trace(cases: Sequence[Case]) -> str:
    """Return the trace of cases that were recorded."""
    results = []
    for case in cases:
        name = f"{case.network} on {case.chip} {case.runtime}"
        results.append((name, with_memory(case.timing, case.memory)))
        if case.interference is not None:
            loads = ", ".join(case.interference.names)
            results.append((f"{name} beside {loads}", case.interference.beside))
    return trace_json(results)


def with_memory(timing: Result, memory: Footprint) -> Result:
    """Return the result with the activations that are live during the first inference as a level.

    Between two layers the level stays at that of the first.
    """
    live = {layer.name: layer.live_bytes for layer in memory.layers}
    steps = [(layer.start_ps, float(live.get(layer.name, 0))) for layer in timing.layers]
    steps.append((timing.inferences[0].end_ps, 0.0))
    level = Level("live activations", "B", memory.live_bytes, tuple(steps))
    timeline = replace(timing.timeline, levels=(*timing.timeline.levels, level))
    return replace(timing, timeline=timeline)
