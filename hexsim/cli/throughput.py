"""`hexsim throughput`: several instances of one or more networks at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    InputDimOption,
    JsonOption,
    TraceOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._overrides import tell_use
from hexsim.cli._per_model import per_model
from hexsim.cli._simulated import Circumstances, Hardware
from hexsim.errors import HexsimError, unknown

if TYPE_CHECKING:
    from hexsim.q6_scheduler import PriorityHint


@grouped
def throughput(
    *,
    model: Annotated[list[str], typer.Argument(help=".dlc or ONNX files or built-in networks.")],
    hardware: Hardware,
    runtime: Annotated[
        str, typer.Option("--runtime", help="One for all networks, or one for each: dsp,cpu.")
    ] = "dsp",
    instances: Annotated[
        str, typer.Option("--instances", help="Threads of every network, or of each: 2,1.")
    ] = "1",
    priority: Annotated[
        str, typer.Option("--priority", help="low, normal or high, or one for each: high,low.")
    ] = "normal",
    inferences: Annotated[
        int | None, typer.Option("--inferences", help="Calls of every thread; default: 20.")
    ] = None,
    duration_ms: Annotated[
        float | None, typer.Option("--duration-ms", help="Begin no call after it, instead.")
    ] = None,
    circumstances: Circumstances,
    input_dim: InputDimOption = None,
    json: JsonOption = None,
    trace: TraceOption = None,
) -> None:
    """Run instances of networks at once: throughput, latencies, utilisation and what limits."""
    from hexsim.api import seeded_calibration
    from hexsim.cli._progress import status
    from hexsim.container.loading import applied_overrides, load_container
    from hexsim.files import write_text
    from hexsim.graph.ir import Network
    from hexsim.quantization.overrides.use import OverrideUse
    from hexsim.reports.throughput_json import throughput_json
    from hexsim.reports.throughput_table import throughput_text
    from hexsim.reports.trace import trace_json
    from hexsim.studies.throughput import Loop, Stream, throughput

    require_outputs((json, trace), model)
    if inferences is not None and duration_ms is not None:
        raise HexsimError("give --inferences or --duration-ms, not both")
    runtimes = [parse_runtime(name) for name in per_model("--runtime", runtime, len(model))]
    counts = [_count(text) for text in per_model("--instances", instances, len(model))]
    hints = [_hint(name) for name in per_model("--priority", priority, len(model))]
    platform = hardware.platform()
    loop = Loop(
        inferences=Loop.inferences if inferences is None else inferences,
        duration_ms=duration_ms,
        perf_profile=circumstances.perf_profile,
        buffer=circumstances.buffers(platform),
        background=circumstances.clients(),
    )
    with status() as progress:
        streams, uses = [], {}
        for source, kind, count, hint in zip(model, runtimes, counts, hints, strict=True):
            progress(f"loading {source}")
            read = load_container(source, input_dims=parse_input_dims(input_dim))
            overrides = applied_overrides(read, source, asked=circumstances.override_params)
            ready, effect = read.model, platform.load_rule(kind, quantized=False).effect
            here = circumstances.quantize and effect == "refuse"
            if isinstance(ready, Network) and (here or effect == "quantise"):
                uses[ready.name] = OverrideUse.of(read.overrides)
                if here or overrides:
                    progress(f"quantising {source}")
                    coded = platform.quantize(ready, seeded_calibration(ready), overrides)
                    uses[ready.name] = OverrideUse.of(read.overrides, coded.overrides)
                    ready = platform.prepared(coded, kind, hta=not circumstances.no_hta)
            plan = platform.plan(ready, kind, cpu_fallback=not circumstances.no_cpu_fallback)
            streams.append(Stream(plan, count, hint))
        progress(f"{sum(counts)} instances on {platform.chip.name}")
        found = throughput(platform, streams, loop)
    for name, use in uses.items():
        tell_use(name, use)
    if json is not None:
        write_text(json, throughput_json(found, platform))
    if trace is not None:
        write_text(trace, trace_json([(f"throughput on {platform.chip.name}", found.result)]))
    profile = circumstances.perf_profile or platform.stack.default_profile
    typer.echo(f"{platform.chip.name}, {platform.stack.name}, {profile}\n")
    typer.echo(throughput_text(found))


def _count(text: str) -> int:
    if not text.isdecimal():
        raise HexsimError(f"--instances '{text}' is no number of threads")
    return int(text)


def _hint(name: str) -> PriorityHint:
    from hexsim.q6_scheduler import URGENCY

    if name not in URGENCY:
        raise unknown("priority", name, list(URGENCY))
    return name
