"""`hexsim profile`: where the time of one inference goes, layer by layer."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._options import (
    BufferOption,
    ChipOption,
    IdleOption,
    InputDimOption,
    NoFallbackOption,
    ProfileOption,
    StackOption,
    UncertaintyOption,
    parse_input_dims,
    parse_runtime,
)


def profile(
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    chip: ChipOption = "sd835",
    stack: StackOption = None,
    runtime: Annotated[str, typer.Option("--runtime", help="One runtime.")] = "dsp",
    perf_profile: ProfileOption = None,
    idle_ms: IdleOption = 0.0,
    buffer: BufferOption = None,
    input_dim: InputDimOption = None,
    no_cpu_fallback: NoFallbackOption = False,
    quantize: Annotated[
        bool, typer.Option("--quantize", help="Quantise a float model for aip and fxp_cpu.")
    ] = False,
    uncertainty: UncertaintyOption = False,
) -> None:
    """Profile one inference: cycles, time, MACs, memory traffic and bound of every layer."""
    from hexsim.benchmark import Conditions, run_benchmark
    from hexsim.cli._progress import status
    from hexsim.platform import Platform
    from hexsim.reports.profile_table import profile_table
    from hexsim.reports.uncertainty_table import uncertainty_table

    platform = Platform.load(chip, stack)
    conditions = Conditions(
        perf_profile=perf_profile,
        idle_ms=idle_ms,
        buffer=None if buffer is None else platform.stack.buffer(buffer),
        cpu_fallback=not no_cpu_fallback,
        uncertainty=uncertainty,
        accuracy=False,
        quantize=quantize,
        input_dims=parse_input_dims(input_dim),
    )
    with status() as progress:
        (case,) = run_benchmark([model], platform, [parse_runtime(runtime)], conditions, progress)
    typer.echo(
        f"{case.network} on {case.chip} {case.runtime}, {case.stack}, {case.perf_profile}, "
        f"{case.buffer} buffers\n"
    )
    typer.echo(profile_table(case.timing))
    if case.uncertainty is not None:
        typer.echo("\n" + uncertainty_table(case.uncertainty))
