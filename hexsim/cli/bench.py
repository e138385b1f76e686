"""`hexsim bench`: networks on the runtimes of a chip, beside what was measured."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._options import (
    BackgroundOption,
    BufferOption,
    ChipOption,
    CsvOption,
    IdleOption,
    InputDimOption,
    JsonOption,
    NoFallbackOption,
    NoHtaOption,
    NoPowerCollapseOption,
    ProfileOption,
    StackOption,
    TraceOption,
    UncertaintyOption,
    parse_input_dims,
    parse_runtimes,
)
from hexsim.cli._output import require_outputs
from hexsim.errors import HexsimError

DEFAULT_MODELS = ("alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1")
"""The networks of the published Snapdragon 835 benchmark."""


def bench(
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help=".dlc or ONNX file or built-in network; repeatable."),
    ] = None,
    chip: ChipOption = "sd835",
    stack: StackOption = None,
    runtime: Annotated[
        str | None, typer.Option("--runtime", help="Comma separated; default: all of the chip.")
    ] = None,
    perf_profile: ProfileOption = None,
    idle_ms: IdleOption = 0.0,
    no_power_collapse: NoPowerCollapseOption = False,
    background: BackgroundOption = None,
    buffer: BufferOption = None,
    input_dim: InputDimOption = None,
    no_cpu_fallback: NoFallbackOption = False,
    quantize: Annotated[
        bool, typer.Option("--quantize", help="Quantise float models where they are refused.")
    ] = False,
    no_hta: NoHtaOption = False,
    timing_only: Annotated[
        bool, typer.Option("--timing-only", help="Leave values and accuracy out.")
    ] = False,
    uncertainty: UncertaintyOption = False,
    json: JsonOption = None,
    csv: CsvOption = None,
    trace: TraceOption = None,
) -> None:
    """Benchmark networks: latency per runtime, measured values, agreement with float."""
    from hexsim.background import load
    from hexsim.benchmark import Case, Conditions, Refusal, run_benchmark
    from hexsim.cli._progress import status
    from hexsim.files import write_text
    from hexsim.platform import Platform
    from hexsim.reports.background_table import background_tables
    from hexsim.reports.benchmark_csv import benchmark_csv
    from hexsim.reports.benchmark_json import benchmark_json
    from hexsim.reports.benchmark_table import benchmark_tables, footnotes
    from hexsim.reports.benchmark_trace import benchmark_trace
    from hexsim.reports.recommendation import recommendations

    require_outputs((json, csv, trace), model or ())
    platform = Platform.load(chip, stack)
    if no_power_collapse:
        platform = platform.without_power_collapse()
    runtimes = parse_runtimes(runtime)
    conditions = Conditions(
        perf_profile=perf_profile,
        idle_ms=idle_ms,
        buffer=None if buffer is None else platform.stack.buffer(buffer),
        cpu_fallback=not no_cpu_fallback,
        uncertainty=uncertainty,
        accuracy=not timing_only,
        quantize=quantize or runtimes is None,
        hta=not no_hta,
        input_dims=parse_input_dims(input_dim),
        background=tuple(load(name) for name in background or ()),
        recorded=trace is not None,
    )
    with status() as progress:
        results = list(
            run_benchmark(
                model or DEFAULT_MODELS,
                platform,
                runtimes or platform.runtimes,
                conditions,
                progress,
            )
        )
    cases = [result for result in results if isinstance(result, Case)]
    refusals = [result for result in results if isinstance(result, Refusal)]
    if not cases:
        raise HexsimError(refusals[0].reason)
    if json is not None:
        write_text(json, benchmark_json(cases, refusals))
    if csv is not None:
        write_text(csv, benchmark_csv(cases))
    if trace is not None:
        write_text(trace, benchmark_trace(cases))
    typer.echo(benchmark_tables(cases))
    if advice := recommendations(cases):
        typer.echo("\n" + advice)
    if background:
        typer.echo("\n" + background_tables(cases))
    typer.echo("\n" + footnotes(cases, refusals))
