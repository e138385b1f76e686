"""`hexsim quantize`: a float .dlc file and calibration inputs become a quantised one."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from hexsim.cli._options import OverrideParamsOption, StackOption
from hexsim.cli._output import output_path, require_outputs
from hexsim.errors import HexsimError

Limit = Literal["weights", "activations", "both"]


def quantize(
    model: Annotated[str, typer.Argument(help="Float .dlc file (or ONNX file).")],
    input_list: Annotated[
        Path, typer.Option("--input-list", help="Text file that names raw inputs, a set per line.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default: MODEL_quantized.dlc."),
    ] = None,
    use_enhanced_quantizer: Annotated[
        Limit | None,
        typer.Option(
            help="Search for ranges with less error than min to max; alone for weights and "
            "activations, or limited to one of them.",
        ),
    ] = None,
    use_adjusted_weights_quantizer: Annotated[
        bool,
        typer.Option(
            "--use-adjusted-weights-quantizer",
            help="Widen the range of 8-bit weights so that none saturates (an approximation).",
        ),
    ] = False,
    use_symmetric_quantize_weights: Annotated[
        bool, typer.Option("--use-symmetric-quantize-weights", help="Signed weights around zero.")
    ] = False,
    axis_quant: Annotated[
        bool, typer.Option("--axis-quant", help="Symmetric weights, a step per output channel.")
    ] = False,
    act_bitwidth: Annotated[
        int | None, typer.Option("--act-bitwidth", help="Bits of activations: 8 (default) or 16.")
    ] = None,
    weights_bitwidth: Annotated[
        int | None,
        typer.Option("--weights-bitwidth", help="Bits of weights: 4, 8 (default) or 16."),
    ] = None,
    pack_4_bit_weights: Annotated[
        bool, typer.Option("--pack-4-bit-weights", help="Store two 4-bit weights in a byte.")
    ] = False,
    bias_bitwidth: Annotated[
        int | None, typer.Option("--bias-bitwidth", help="Bits of biases: 8 (default) or 32.")
    ] = None,
    bitwidth: Annotated[
        int | None,
        typer.Option("--bitwidth", help="8, or 16 for activations and weights with 32-bit biases."),
    ] = None,
    optimizations: Annotated[
        list[str] | None,
        typer.Option(
            "--optimizations",
            help="cle: equalise weights across layers first; bc: correct biases afterwards, only "
            "with cle. Repeat the option or write cle,bc.",
        ),
    ] = None,
    override_params: OverrideParamsOption = False,
    float_bitwidth: Annotated[
        int | None,
        typer.Option(
            "--float-bitwidth",
            help="Bits of tensors that an override keeps float without saying how many: 16 or 32 "
            "(default).",
        ),
    ] = None,
    float_bias_bitwidth: Annotated[
        int | None,
        typer.Option(
            "--float-bias-bitwidth",
            help="Bits of the biases of float layers: 16 or 32; default: those of the layer.",
        ),
    ] = None,
    enable_hta: Annotated[
        bool, typer.Option("--enable-hta", help="Compile sections for the tensor engine of AIP.")
    ] = False,
    hta_partitions: Annotated[
        list[str] | None,
        typer.Option(
            "--hta-partitions",
            help="Layer ids of the sections: 0-11,15-20 for --chip, or sm8150:0-20,40-60; "
            "repeatable per chip; default: all that can be compiled.",
        ),
    ] = None,
    chip: Annotated[
        str, typer.Option("--chip", help="Chip whose tensor engine --enable-hta compiles for.")
    ] = "sd855",
    stack: StackOption = None,
    encodings_report: Annotated[
        Path | None,
        typer.Option(
            "--encodings-report",
            help="Write, as JSON, where each encoding came from and what became of each override.",
        ),
    ] = None,
) -> None:
    """Quantise a network, calibrating activations on raw inputs."""
    from hexsim import container
    from hexsim.cli._bitwidths import bit_widths
    from hexsim.cli._progress import bar
    from hexsim.container.loading import applied_overrides, load_container
    from hexsim.deployment.offline_hta import compile_all, orders
    from hexsim.files import replacing
    from hexsim.inputs.input_list import read_input_list
    from hexsim.quantization.model import require_float
    from hexsim.quantization.optimizations import parse_optimizations, quantize_optimized
    from hexsim.quantization.options import QuantizationOptions
    from hexsim.reports.encodings_json import encodings_json
    from hexsim.reports.hta_log import hta_log
    from hexsim.reports.optimization_log import optimization_log
    from hexsim.reports.override_log import override_log, unused_line
    from hexsim.reports.quantizer_log import quantizer_log

    bits = bit_widths(bitwidth, act_bitwidth, weights_bitwidth, bias_bitwidth)
    for option, given in (
        ("--float-bitwidth", float_bitwidth),
        ("--float-bias-bitwidth", float_bias_bitwidth),
    ):
        if given is not None and not override_params:
            raise HexsimError(
                f"{option} is about layers that overrides keep float; give --override-params too"
            )
    options = QuantizationOptions(
        enhanced=use_enhanced_quantizer or "none",
        adjusted_weights=use_adjusted_weights_quantizer,
        symmetric_weights=use_symmetric_quantize_weights,
        axis_weights=axis_quant,
        activation_bits=cast(Literal[8, 16], bits.activations),
        weight_bits=cast(Literal[4, 8, 16], bits.weights),
        pack_4_bit_weights=pack_4_bit_weights,
        bias_bits=cast(Literal[8, 32], bits.biases),
        float_bits=cast(Literal[16, 32], 32 if float_bitwidth is None else float_bitwidth),
        float_bias_bits=cast(Literal[16, 32] | None, float_bias_bitwidth),
    )
    chosen = parse_optimizations(optimizations or ())
    target = output_path(model, output, f"{Path(model).stem}_quantized.dlc")
    require_outputs((target, encodings_report), (model, input_list))
    source = load_container(model)
    network = require_float(source.model)
    overrides = applied_overrides(source, model, asked=override_params)
    if hta_partitions and not enable_hta:
        raise HexsimError("--hta-partitions says what --enable-hta compiles; give both")
    asked = orders(hta_partitions or (), chip, stack) if enable_hta else ()
    for order in asked:
        order.check(source.model)
    inputs = read_input_list(input_list, network)
    done = quantize_optimized(
        network,
        lambda: inputs.arrays(network),
        options,
        chosen,
        overrides,
        bar,
        len(inputs.sets),
    )
    compiled, failures = compile_all(done.model, asked)
    done = replace(done, model=compiled)
    words = {
        "act_bitwidth": bits.activations,
        "axis_quant": axis_quant,
        "bias_bitwidth": bits.biases,
        "enable_hta": enable_hta,
        "hta_partitions": " ".join(hta_partitions or ()),
        "float_bias_bitwidth": float_bias_bitwidth,
        "float_bitwidth": float_bitwidth,
        "input_dlc": model,
        "input_list": input_list,
        "optimizations": ",".join(chosen),
        "override_params": override_params,
        "pack_4_bit_weights": pack_4_bit_weights,
        "use_adjusted_weights_quantizer": use_adjusted_weights_quantizer,
        "use_enhanced_quantizer": use_enhanced_quantizer,
        "use_symmetric_quantize_weights": use_symmetric_quantize_weights,
        "weights_bitwidth": bits.weights,
    }
    command = " ".join(f"{key}={value}" for key, value in words.items() if value)
    metadata = replace(source.metadata, quantizer_command=f"hexsim quantize {command}")
    with ExitStack() as both:  # none is left if the other cannot be written
        if encodings_report is not None:
            report = both.enter_context(replacing(encodings_report))
            report.write(encodings_json(done.model).encode())
        container.write(target, done.model, metadata)
    if source.overrides and not override_params:
        print(unused_line(source.overrides), file=sys.stderr)
    log = (*optimization_log(done), *override_log(done.model), *quantizer_log(done.model, target))
    for line in (*log, *hta_log(done.model, failures)):
        print(line, file=sys.stderr)
