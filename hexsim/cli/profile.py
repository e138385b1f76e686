"""`hexsim profile`: where the time of one inference goes, layer by layer."""

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
    parse_runtime,
)
from hexsim.cli._output import require_outputs


def profile(
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    chip: ChipOption = "sd835",
    stack: StackOption = None,
    runtime: Annotated[str, typer.Option("--runtime", help="One runtime.")] = "dsp",
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
    uncertainty: UncertaintyOption = False,
    json: JsonOption = None,
    csv: CsvOption = None,
    trace: TraceOption = None,
) -> None:
    """Profile one inference: cycles, time, MACs, bytes by memory level and bound of every layer."""
    from hexsim.background import load
    from hexsim.benchmark import Conditions, run_case
    from hexsim.cli._progress import status
    from hexsim.files import write_text
    from hexsim.platform import Platform
    from hexsim.reports.background_table import background_tables, slowdown_table
    from hexsim.reports.benchmark_json import benchmark_json
    from hexsim.reports.benchmark_trace import benchmark_trace
    from hexsim.reports.profile_csv import profile_csv
    from hexsim.reports.profile_table import profile_table
    from hexsim.reports.uncertainty_table import uncertainty_table

    require_outputs((json, csv, trace), (model,))
    platform = Platform.load(chip, stack)
    if no_power_collapse:
        platform = platform.without_power_collapse()
    conditions = Conditions(
        perf_profile=perf_profile,
        idle_ms=idle_ms,
        buffer=None if buffer is None else platform.stack.buffer(buffer),
        cpu_fallback=not no_cpu_fallback,
        uncertainty=uncertainty,
        accuracy=False,
        quantize=quantize,
        hta=not no_hta,
        input_dims=parse_input_dims(input_dim),
        background=tuple(load(name) for name in background or ()),
        recorded=trace is not None,
    )
    with status() as progress:
        case = run_case(model, platform, parse_runtime(runtime), conditions, progress)
    if json is not None:
        write_text(json, benchmark_json([case]))
    if csv is not None:
        write_text(csv, profile_csv(case.timing))
    if trace is not None:
        write_text(trace, benchmark_trace([case]))
    typer.echo(
        f"{case.network} on {case.chip} {case.runtime}, {case.stack}, {case.perf_profile}, "
        f"{case.buffer} buffers\n"
    )
    typer.echo(profile_table(case.timing))
    if case.interference is not None:
        typer.echo(f"\n{background_tables([case])}\n\n{slowdown_table(case.interference)}")
    if case.uncertainty is not None:
        typer.echo("\n" + uncertainty_table(case.uncertainty))
