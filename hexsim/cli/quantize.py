"""`hexsim quantize`: a float .dlc file and calibration inputs become a quantised one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from hexsim.cli._output import output_path
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.graph.ir import Network

_BIAS_BITWIDTHS = (8, 32)


def quantize(
    model: Annotated[str, typer.Argument(help="Float .dlc file (or ONNX file).")],
    input_list: Annotated[
        Path, typer.Option("--input-list", help="Text file that names raw inputs, a set per line.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default: MODEL_quantized.dlc."),
    ] = None,
    bias_bitwidth: Annotated[
        int, typer.Option("--bias-bitwidth", help="Bits of biases: 8 or 32.")
    ] = 8,
) -> None:
    """Quantise a network, calibrating activations on raw inputs."""
    from hexsim import container
    from hexsim.cli._progress import bar
    from hexsim.loading import load_container
    from hexsim.quantization.input_list import read_input_list
    from hexsim.quantization.options import QuantizationOptions
    from hexsim.quantization.quantized import require_float
    from hexsim.quantization.quantizer import quantize as run_quantizer
    from hexsim.reports.quantizer_log import quantizer_log

    if bias_bitwidth not in _BIAS_BITWIDTHS:
        raise HexsimError(f"--bias-bitwidth must be 8 or 32, not {bias_bitwidth}")
    target = output_path(model, output, f"{Path(model).stem}_quantized.dlc")
    source = load_container(model)
    network = require_float(source.model)
    _require_batch_of_one(network)
    inputs = read_input_list(input_list, network)
    options = QuantizationOptions(bias_bits=cast(Literal[8, 32], bias_bitwidth))
    with bar("calibrating", len(inputs.sets)) as progress:
        quantized = run_quantizer(network, inputs.arrays(network), options, progress)
    command = f"hexsim quantize bias_bitwidth={bias_bitwidth} input_dlc={model} "
    metadata = replace(source.metadata, quantizer_command=f"{command}input_list={input_list}")
    container.write(target, quantized, metadata)
    for line in quantizer_log(quantized, target):
        print(line, file=sys.stderr)


def _require_batch_of_one(network: Network) -> None:
    for name in network.inputs:
        shape = network.tensors[name].source_shape
        if len(shape) > 1 and shape[0] != 1:
            raise HexsimError(
                f"input '{name}' of network '{network.name}' has a batch of {shape[0]}, the "
                f"quantiser takes batches of 1; convert the model with --input-dim {name} "
                f"{','.join(map(str, (1, *shape[1:])))}"
            )
