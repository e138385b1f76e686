"""`hexsim tradeoff`: a float or a quantised file, and on which runtime."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._groups import grouped
from hexsim.cli._inputs import Inputs
from hexsim.cli._options import (
    CalibrationListOption,
    CsvOption,
    FloatModelOption,
    InputDimOption,
    JsonOption,
    LabelsOption,
    NoFallbackOption,
    NoHtaOption,
    OverrideParamsOption,
    ProfileOption,
    parse_input_dims,
)
from hexsim.cli._output import require_outputs
from hexsim.cli._simulated import Hardware, Power


@grouped
def tradeoff(
    *,
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    hardware: Hardware,
    inputs: Inputs,
    labels: LabelsOption = None,
    calibration_list: CalibrationListOption = None,
    float_model: FloatModelOption = None,
    perf_profile: ProfileOption = None,
    power: Power,
    input_dim: InputDimOption = None,
    no_cpu_fallback: NoFallbackOption = False,
    override_params: OverrideParamsOption = False,
    no_hta: NoHtaOption = False,
    json: JsonOption = None,
    csv: CsvOption = None,
) -> None:
    """Set file size, initialisation, inference and accuracy of every choice side by side."""
    from hexsim.cli import _compared as compared
    from hexsim.cli._progress import status
    from hexsim.files import write_text
    from hexsim.quantization.quantized import float_network
    from hexsim.reports.tradeoff_data import tradeoff_csv, tradeoff_json
    from hexsim.reports.tradeoff_table import tradeoff_table
    from hexsim.studies.tradeoff import Conditions
    from hexsim.studies.tradeoff import tradeoff as run_tradeoff

    require_outputs((json, csv), (model, float_model, inputs.input_list, labels, calibration_list))
    platform = power.of(hardware.platform())
    platform.stack.profile(perf_profile)
    dims = parse_input_dims(input_dim)
    floats, given = compared.both(model, float_model, dims, override_params=override_params)
    network = floats or float_network(given.model)
    source = inputs.source(network)
    classes = compared.labelled(labels, source, network)
    codes, encodings = compared.quantized(given, platform, calibration_list, source)
    if codes is not given.model and "aip" in platform.runtimes:
        codes = platform.prepared(codes, "aip", hta=not no_hta)
    conditions = Conditions(
        perf_profile, power.idle_ms, not no_cpu_fallback, classes, given.overrides
    )
    with status() as progress:
        choices = run_tradeoff(floats, codes, platform, source, conditions, progress)
    notes = (source.description, encodings, given.reference)
    where = (platform.chip.name, platform.stack.name)
    if json is not None:
        write_text(json, tradeoff_json(network.name, where, notes, choices, classes is not None))
    if csv is not None:
        write_text(csv, tradeoff_csv(choices, classes is not None))
    typer.echo(f"{network.name} on {', '.join(where)}, {source.items} inputs")
    typer.echo("".join(f"  {note}\n" for note in notes))
    typer.echo(tradeoff_table(choices, labelled=classes is not None))
