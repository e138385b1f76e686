"""`hexsim bench`: networks on the runtimes of a chip, beside what was measured."""

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
    parse_runtimes,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._simulated import Circumstances, Hardware, Power
from hexsim.errors import HexsimError

DEFAULT_MODELS = ("alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1")
"""The networks of the published Snapdragon 835 benchmark."""


@grouped
def bench(
    *,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help=".dlc or ONNX file or built-in network; repeatable."),
    ] = None,
    hardware: Hardware,
    runtime: Annotated[
        str | None, typer.Option("--runtime", help="Comma separated; default: all of the chip.")
    ] = None,
    power: Power,
    circumstances: Circumstances,
    input_dim: InputDimOption = None,
    timing_only: Annotated[
        bool, typer.Option("--timing-only", help="Leave values and accuracy out.")
    ] = False,
    uncertainty: UncertaintyOption = False,
    json: JsonOption = None,
    csv: CsvOption = None,
    trace: TraceOption = None,
) -> None:
    """Benchmark networks: latency per runtime, measured values, agreement with float."""
    from hexsim.cli._progress import status
    from hexsim.files import write_text
    from hexsim.reports.background_table import background_tables
    from hexsim.reports.benchmark_csv import benchmark_csv
    from hexsim.reports.benchmark_json import benchmark_json
    from hexsim.reports.benchmark_table import benchmark_tables, footnotes
    from hexsim.reports.benchmark_trace import benchmark_trace
    from hexsim.reports.recommendation import recommendations
    from hexsim.studies.benchmark import Case, Refusal, run_benchmark, told_apart

    require_outputs((json, csv, trace), model or ())
    platform = power.of(hardware.platform())
    runtimes = parse_runtimes(runtime)
    conditions = circumstances.conditions(
        platform,
        power,
        sweep="everything" if uncertainty else "tensor engine",
        accuracy=not timing_only,
        quantize=circumstances.quantize or runtimes is None,
        input_dims=parse_input_dims(input_dim),
        recorded=trace is not None,
    )
    with status() as progress:
        results = told_apart(
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
    if circumstances.background:
        typer.echo("\n" + background_tables(cases))
    typer.echo("\n" + footnotes(cases, refusals))
