"""`hexsim info` lists the layers of a .dlc or ONNX file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import CHIP
from hexsim.cli._groups import grouped
from hexsim.cli._options import (
    InputDimOption,
    InputValueOption,
    ModelArgument,
    OutNameOption,
    parse_input_dims,
    parse_input_values,
)
from hexsim.cli._output import JsonCsv
from hexsim.cli._page import paged
from hexsim.cli._say import say
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.accuracy.rescaling import RescalingLoss
    from hexsim.quantization.model import Model
    from hexsim.reports.inference.memory import NeededOn

EXAMPLES = {
    "info": (
        "hexsim info model.onnx",
        "hexsim info model.dlc --memory dsp --chip sd855",
    ),
}


@paged
@grouped
def info(
    *,
    model: ModelArgument,
    chip: Annotated[
        str | None,
        typer.Option(
            "--chip",
            help="Also show the cost of rescaling the weights for the chip's DSP; with --memory, "
            "the chip to use.",
        ),
        CHIP,
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="RUNTIME",
            help="Also show the memory of an inference on this runtime, layer by layer.",
        ),
    ] = None,
    imports: Annotated[
        bool,
        typer.Option(
            "--imports", help="Also show the layers made of an ONNX file's nodes, and why."
        ),
    ] = False,
    input_dim: InputDimOption = None,
    input_value: InputValueOption = None,
    out_name: OutNameOption = None,
    outputs: JsonCsv,
) -> None:
    """List the layers: shapes, runtimes, parameters, MACs, encodings.

    No weight is read, unless --chip is given.
    """
    from hexsim.dlc.loading import load_container, required_imports
    from hexsim.reports.network.data import info_csv, info_facts
    from hexsim.reports.network.table import info_table

    dims, values = parse_input_dims(input_dim), parse_input_values(input_value)
    read = load_container(model, input_dims=dims, input_values=values, output_names=out_name or ())
    needed = None if memory is None else _memory(read.model, memory, chip or "sd835")
    losses = None
    if chip is not None and (needed is None or _has_codes_of_dsp(read.model, chip)):
        losses = _losses(read.model, chip)
    import_report = required_imports(read, model) if imports else None
    outputs.write(
        json=lambda: info_facts.json(model, read, losses, import_report, needed),
        csv=lambda: info_csv(read, needed),
    )
    say(info_table(model, read, needed))
    if import_report is not None:
        from hexsim.reports.network.imports import imports_table

        say("\n" + imports_table(import_report))
    if losses is not None:
        from hexsim.reports.network.rescaling import rescaling_table

        say("\n" + rescaling_table(losses, str(chip)))


def _memory(model: Model, runtime: str, chip: str) -> NeededOn:
    """Return the memory of an inference; a float network is quantised by default if necessary."""
    from hexsim.cli._options import parse_runtime
    from hexsim.deployment import Deployment
    from hexsim.deployment.platform import Platform
    from hexsim.deployment.prepared_graph import prepared_graph
    from hexsim.reports.inference.memory import NeededOn

    platform, target = Platform.load(chip), parse_runtime(runtime)
    platform.require(model, target)
    deployment = Deployment(model, platform, target)
    needed, plan = deployment.memory(), deployment.plan
    prepared = prepared_graph(plan, needed, platform.stack)
    return NeededOn(target, platform.chip.name, needed, prepared)


def _has_codes_of_dsp(model: Model, chip: str) -> bool:
    from hexsim.datasheets import chips

    return model.quantized and chips.load(chip).dsp_table is not None


def _losses(model: Model, chip: str) -> tuple[RescalingLoss, ...]:
    """Return the losses of weights that become signed on the chip's DSP."""
    from hexsim.accuracy.rescaling import rescaling_losses
    from hexsim.deployment import Deployment
    from hexsim.deployment.platform import Platform

    platform = Platform.load(chip)
    platform.chip.require("dsp")
    if not model.quantized:
        raise HexsimError(
            f"--chip tells what becomes of codes, and network '{model.name}' is float; quantise "
            "it first, or leave --chip out"
        )
    return rescaling_losses(model, Deployment(model, platform, "dsp").signed_layers)
