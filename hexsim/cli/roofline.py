"""`hexsim roofline`: how far each layer is from what the chip could do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    CsvOption,
    InputDimOption,
    JsonOption,
    OverrideParamsOption,
    ProfileOption,
    QuantizeOption,
    parse_input_dims,
    parse_runtime,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._overrides import tell_use
from hexsim.cli._simulated import Hardware


@grouped
def roofline(
    *,
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    hardware: Hardware,
    runtime: Annotated[str, typer.Option("--runtime", help="One runtime.")] = "dsp",
    perf_profile: ProfileOption = None,
    input_dim: InputDimOption = None,
    quantize: QuantizeOption = False,
    override_params: OverrideParamsOption = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Draw the chart: a .png or .svg file.")
    ] = None,
    json: JsonOption = None,
    csv: CsvOption = None,
) -> None:
    """Set every layer under the roofs of the chip: multiply-adds per byte and per second."""
    from hexsim.cli._progress import status
    from hexsim.files import write_bytes, write_text
    from hexsim.reports.roofline_facts import roofline_csv, roofline_json
    from hexsim.reports.roofline_table import roofline_table
    from hexsim.studies.benchmark import Conditions, run_case
    from hexsim.studies.roofline import roofline

    require_outputs((output, json, csv), (model,))
    if output is not None:
        from hexsim.reports.roofline_chart import picture, picture_format

        picture_format(output)
    platform = hardware.platform()
    conditions = Conditions(
        perf_profile=perf_profile,
        accuracy=False,
        quantize=quantize,
        override_params=override_params,
        input_dims=parse_input_dims(input_dim),
    )
    with status() as progress:
        case = run_case(model, platform, parse_runtime(runtime), conditions, progress)
    tell_use(case.network, case.overrides)
    chart = roofline(case, platform)
    if json is not None:
        write_text(json, roofline_json(chart))
    if csv is not None:
        write_text(csv, roofline_csv(chart))
    if output is not None:
        write_bytes(output, picture(chart, picture_format(output)))
    typer.echo(f"{case.network} on {case.chip} {case.runtime}, {case.stack}, {case.perf_profile}\n")
    typer.echo(roofline_table(chart))
