"""`hexsim throughput`: several instances of one or more networks at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._options import (
    BackgroundOption,
    BufferOption,
    ChipOption,
    InputDimOption,
    JsonOption,
    NoFallbackOption,
    NoHtaOption,
    ProfileOption,
    StackOption,
    TraceOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._per_model import per_model
from hexsim.errors import HexsimError, unknown

if TYPE_CHECKING:
    from hexsim.q6_scheduler import PriorityHint


def throughput(
    model: Annotated[list[str], typer.Argument(help=".dlc or ONNX files or built-in networks.")],
    chip: ChipOption = "sd835",
    stack: StackOption = None,
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
    perf_profile: ProfileOption = None,
    background: BackgroundOption = None,
    buffer: BufferOption = None,
    input_dim: InputDimOption = None,
    no_cpu_fallback: NoFallbackOption = False,
    quantize: Annotated[
        bool, typer.Option("--quantize", help="Quantise float models where they are refused.")
    ] = False,
    no_hta: NoHtaOption = False,
    json: JsonOption = None,
    trace: TraceOption = None,
) -> None:
    """Run instances of networks at once: throughput, latencies, utilisation and what limits."""
    from hexsim.api import quantize as quantized
    from hexsim.background import load as load_background
    from hexsim.cli._progress import status
    from hexsim.files import write_text
    from hexsim.graph.ir import Network
    from hexsim.hta.offline import Order, compile_all
    from hexsim.loading import load
    from hexsim.platform import Platform
    from hexsim.reports.throughput_json import throughput_json
    from hexsim.reports.throughput_table import throughput_text
    from hexsim.reports.trace import trace_json
    from hexsim.throughput import Loop, Stream, throughput

    require_outputs((json, trace), model)
    if inferences is not None and duration_ms is not None:
        raise HexsimError("give --inferences or --duration-ms, not both")
    runtimes = [parse_runtime(name) for name in per_model("--runtime", runtime, len(model))]
    counts = [_count(text) for text in per_model("--instances", instances, len(model))]
    hints = [_hint(name) for name in per_model("--priority", priority, len(model))]
    platform = Platform.load(chip, stack)
    loop = Loop(
        inferences=Loop.inferences if inferences is None else inferences,
        duration_ms=duration_ms,
        perf_profile=perf_profile,
        buffer=None if buffer is None else platform.stack.buffer(buffer),
        background=tuple(load_background(name) for name in background or ()),
    )
    with status() as progress:
        streams = []
        for source, kind, count, hint in zip(model, runtimes, counts, hints, strict=True):
            progress(f"loading {source}")
            loaded = load(source, input_dims=parse_input_dims(input_dim))
            refused = platform.load_rule(kind, quantized=False).effect == "refuse"
            if quantize and refused and isinstance(loaded, Network):
                progress(f"quantising {source}")
                loaded = quantized(loaded, options=platform.quantization_options)
                if kind == "aip" and not no_hta:
                    loaded, _ = compile_all(loaded, [Order(platform.chip, platform.stack)])
            plan = platform.plan(loaded, kind, cpu_fallback=not no_cpu_fallback)
            streams.append(Stream(plan, count, hint))
        progress(f"{sum(counts)} instances on {platform.chip.name}")
        found = throughput(platform, streams, loop)
    if json is not None:
        write_text(json, throughput_json(found, platform))
    if trace is not None:
        write_text(trace, trace_json([(f"throughput on {platform.chip.name}", found.result)]))
    profile = perf_profile or platform.stack.default_profile
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
