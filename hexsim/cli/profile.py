"""`hexsim profile`: where the time of one inference goes, layer by layer."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    CsvOption,
    InputDimOption,
    JsonOption,
    TraceOption,
    UncertaintyOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._overrides import tell_use
from hexsim.cli._simulated import Circumstances, Hardware, Power


@grouped
def profile(
    *,
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    hardware: Hardware,
    runtime: Annotated[str, typer.Option("--runtime", help="One runtime.")] = "dsp",
    power: Power,
    circumstances: Circumstances,
    input_dim: InputDimOption = None,
    uncertainty: UncertaintyOption = False,
    json: JsonOption = None,
    csv: CsvOption = None,
    trace: TraceOption = None,
) -> None:
    """Profile one inference: cycles, time, MACs, bytes by memory level and bound of every layer."""
    from hexsim.cli._progress import status
    from hexsim.files import write_text
    from hexsim.reports.background_table import background_tables, slowdown_table
    from hexsim.reports.benchmark_json import benchmark_json
    from hexsim.reports.benchmark_trace import benchmark_trace
    from hexsim.reports.profile_csv import profile_csv
    from hexsim.reports.profile_table import profile_table
    from hexsim.reports.uncertainty_table import uncertainty_table
    from hexsim.studies.benchmark import run_case

    require_outputs((json, csv, trace), (model,))
    platform = power.of(hardware.platform())
    conditions = circumstances.conditions(
        platform,
        power,
        sweep="everything" if uncertainty else None,
        accuracy=False,
        input_dims=parse_input_dims(input_dim),
        recorded=trace is not None,
    )
    with status() as progress:
        case = run_case(model, platform, parse_runtime(runtime), conditions, progress)
    tell_use(case.network, case.overrides)
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
