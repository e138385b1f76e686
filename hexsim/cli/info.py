"""`hexsim info`: what is in a .dlc or ONNX file, layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._options import CsvOption, InputDimOption, JsonOption, parse_input_dims
from hexsim.cli._output import require_outputs
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.accuracy.rescaling import RescalingLoss
    from hexsim.graph.ir import Network
    from hexsim.quantization.quantized import QuantizedNetwork


def info(
    model: Annotated[str, typer.Argument(help=".dlc or ONNX file or built-in network.")],
    chip: Annotated[
        str | None,
        typer.Option("--chip", help="Also what rescaling the weights for its DSP would cost."),
    ] = None,
    input_dim: InputDimOption = None,
    json: JsonOption = None,
    csv: CsvOption = None,
) -> None:
    """List the layers: shapes, runtimes, parameters, MACs, encodings.

    No weight is read, unless --chip asks for what becomes of them.
    """
    from hexsim.container.loading import load_container
    from hexsim.files import write_text
    from hexsim.reports.info_csv import info_csv
    from hexsim.reports.info_json import info_json
    from hexsim.reports.info_table import info_table

    require_outputs((json, csv), (model,))
    read = load_container(model, input_dims=parse_input_dims(input_dim))
    losses = None if chip is None else _losses(read.model, chip)
    if json is not None:
        write_text(json, info_json(model, read, losses))
    if csv is not None:
        write_text(csv, info_csv(read))
    typer.echo(info_table(model, read))
    if losses is not None:
        from hexsim.reports.rescaling_table import rescaling_table

        typer.echo("\n" + rescaling_table(losses, str(chip)))


def _losses(model: Network | QuantizedNetwork, chip: str) -> tuple[RescalingLoss, ...]:
    """What the chip's DSP loses by rescaling weights; nothing on a float network or before V65."""
    from hexsim.accuracy.rescaling import rescaling_losses
    from hexsim.platform import Platform
    from hexsim.quantization.quantized import QuantizedNetwork

    platform = Platform.load(chip)
    platform.chip.require("dsp")
    if not isinstance(model, QuantizedNetwork):
        raise HexsimError(
            f"--chip tells what becomes of codes, and network '{model.name}' is float; quantise "
            "it first, or leave --chip out"
        )
    return rescaling_losses(model) if platform.signed_weights("dsp") else ()
