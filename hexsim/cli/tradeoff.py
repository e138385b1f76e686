"""`hexsim tradeoff`: a float or a quantised file, and on which runtime."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._options import (
    CalibrationListOption,
    ChannelOrderOption,
    ChipOption,
    CsvOption,
    FitOption,
    FloatModelOption,
    IdleOption,
    ImagesOption,
    InputDimOption,
    InputListOption,
    JsonOption,
    LabelsOption,
    MeanOption,
    NoFallbackOption,
    NoPowerCollapseOption,
    ProfileOption,
    StackOption,
    StdOption,
    parse_input_dims,
    parse_preprocessing,
)
from hexsim.cli._output import require_outputs


def tradeoff(
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    chip: ChipOption = "sd835",
    stack: StackOption = None,
    input_list: InputListOption = None,
    images: ImagesOption = None,
    mean: MeanOption = "0",
    std: StdOption = "1",
    channel_order: ChannelOrderOption = "rgb",
    fit: FitOption = "crop",
    labels: LabelsOption = None,
    calibration_list: CalibrationListOption = None,
    float_model: FloatModelOption = None,
    perf_profile: ProfileOption = None,
    idle_ms: IdleOption = 0.0,
    no_power_collapse: NoPowerCollapseOption = False,
    input_dim: InputDimOption = None,
    no_cpu_fallback: NoFallbackOption = False,
    json: JsonOption = None,
    csv: CsvOption = None,
) -> None:
    """Set file size, initialisation, inference and accuracy of every choice side by side."""
    from hexsim.cli import _compared as compared
    from hexsim.cli._progress import status
    from hexsim.files import write_text
    from hexsim.platform import Platform
    from hexsim.quantization.quantized import float_network
    from hexsim.reports.tradeoff_data import tradeoff_csv, tradeoff_json
    from hexsim.reports.tradeoff_table import tradeoff_table
    from hexsim.tradeoff import Conditions
    from hexsim.tradeoff import tradeoff as run_tradeoff

    require_outputs((json, csv), (model, float_model, input_list, labels, calibration_list))
    platform = Platform.load(chip, stack)
    if no_power_collapse:
        platform = platform.without_power_collapse()
    platform.stack.profile(perf_profile)
    floats, quantised, reference = compared.both(model, float_model, parse_input_dims(input_dim))
    network = floats or float_network(quantised)
    how = parse_preprocessing(mean, std, channel_order, fit)
    source = compared.inputs(input_list, images, how, network)
    classes = compared.labelled(labels, source, network)
    codes, encodings = compared.quantized(
        quantised, calibration_list, source, platform.quantization_options
    )
    conditions = Conditions(perf_profile, idle_ms, not no_cpu_fallback, classes)
    with status() as progress:
        choices = run_tradeoff(floats, codes, platform, source, conditions, progress)
    notes = (source.description, encodings, reference)
    where = (platform.chip.name, platform.stack.name)
    if json is not None:
        write_text(json, tradeoff_json(network.name, where, notes, choices, classes is not None))
    if csv is not None:
        write_text(csv, tradeoff_csv(choices, classes is not None))
    typer.echo(f"{network.name} on {', '.join(where)}, {source.items} inputs")
    typer.echo("".join(f"  {note}\n" for note in notes))
    typer.echo(tradeoff_table(choices, labelled=classes is not None))
