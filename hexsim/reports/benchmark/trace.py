"""The cases of a benchmark as one trace: a process per case, and one more with clients."""

from collections.abc import Sequence
from dataclasses import replace

from hexsim.reports.trace.events import trace_json
from hexsim.results.benchmark import Inference
from hexsim.results.costs import MemoryUse
from hexsim.timing.results import Level, Result


def benchmark_trace(cases: Sequence[Inference]) -> str:
    """Return the trace of cases that were recorded."""
    results = []
    for case in cases:
        name = f"{case.network} on {case.chip} {case.runtime}"
        if case.timing is not None:
            results.append((name, with_memory(case.timing, case.memory)))
        if case.background is not None and case.background.timing is not None:
            loads = ", ".join(case.background.loads)
            results.append((f"{name} beside {loads}", case.background.timing))
    return trace_json(results)


def with_memory(timing: Result, memory: MemoryUse) -> Result:
    """Return the result with the activations that are live during the first inference as a level.

    Between two layers the level stays at that of the first.
    """
    live = {layer.name: layer.live_bytes for layer in memory.layers}
    steps = [(layer.start_ps, float(live.get(layer.name, 0))) for layer in timing.layers]
    steps.append((timing.inferences[0].end_ps, 0.0))
    level = Level("live activations", "B", memory.live_bytes, tuple(steps))
    timeline = replace(timing.timeline, levels=(*timing.timeline.levels, level))
    return replace(timing, timeline=timeline)
