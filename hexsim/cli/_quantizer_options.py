"""Options of `hexsim quantize` for the quantiser, and for the sections compiled for AIP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from hexsim.cli._files import CHIP, STACK
from hexsim.cli._options import OverrideParamsOption, chip_names, stack_names
from hexsim.errors import HexsimError, spelled
from hexsim.runtimes import DSP_CHIP

if TYPE_CHECKING:
    from hexsim.deployment.offline_hta import CompileOrder
    from hexsim.deployment.platform import Platform
    from hexsim.quantization.model import Model
    from hexsim.quantization.options import QuantizationOptions


_DEFAULT = 8
_WIDE_BIAS = 32


@dataclass(frozen=True)
class BitWidths:
    """Bits of activations, weights and biases."""

    activations: int
    weights: int
    biases: int


def bit_widths(
    every: int | None, activations: int | None, weights: int | None, biases: int | None
) -> BitWidths:
    """Combine the options as given (None: not given).

    --bitwidth 16 stores biases in 32 bits, because the SNPE tools allow only biases of 8 and 32
    bits; what they do is not documented. Raises HexsimError if it is combined with the others.
    """
    bits_of = {
        spelled("act_bitwidth"): activations,
        spelled("weights_bitwidth"): weights,
        spelled("bias_bitwidth"): biases,
    }
    if every is None:
        return BitWidths(*(_DEFAULT if bits is None else bits for bits in bits_of.values()))
    mixed = [option for option, bits in bits_of.items() if bits is not None]
    if mixed:
        raise HexsimError(
            f"{spelled('bitwidth')} sets the bits of activations, weights and biases, {mixed[0]} "
            "some of "
            "them; give one or the other"
        )
    if every not in (8, 16):
        raise HexsimError(f"{spelled('bitwidth')} is 8 or 16, not {every}")
    return BitWidths(every, every, _DEFAULT if every == _DEFAULT else _WIDE_BIAS)


Limit = Literal["weights", "activations", "both"]

Calibration = Literal["min-max", "sqnr", "entropy", "mse", "percentile"]
Schema = Literal["asymmetric", "symmetric", "unsignedsymmetric"]


@dataclass(frozen=True)
class Ranges:
    """The rules for the range of an encoding."""

    HEADING = "Encodings"

    use_enhanced_quantizer: Annotated[
        Limit | None,
        typer.Option(
            help="Search for ranges with less error than min to max; alone for weights and "
            "activations, or limited to one of them. It trims the ends of a range by a few steps "
            "and keeps rare values that are far away: 10, 100 or 1000 beside 10 000 normal values. "
            "To leave those out, take --act-quantizer-calibration percentile.",
        ),
    ] = None
    use_adjusted_weights_quantizer: Annotated[
        bool,
        typer.Option(
            "--use-adjusted-weights-quantizer",
            help="Widen the range of 8-bit weights so that none saturates (an approximation).",
        ),
    ] = False
    use_symmetric_quantize_weights: Annotated[
        bool,
        typer.Option(
            "--use-symmetric-quantize-weights",
            help="Signed weights around zero; ranges of one sign waste half the codes, "
            "so this scores worse on most networks, on tensor processors too.",
        ),
    ] = False
    axis_quant: Annotated[
        bool, typer.Option("--axis-quant", help="Symmetric weights, a step per output channel.")
    ] = False
    use_per_row_quantization: Annotated[
        bool,
        typer.Option(
            "--use-per-row-quantization", help="As --axis-quant, for fully connected layers only."
        ),
    ] = False
    act_quantizer_calibration: Annotated[
        Calibration,
        typer.Option(help="How the range of activations is chosen; sqnr is the enhanced search."),
    ] = "min-max"
    param_quantizer_calibration: Annotated[
        Calibration, typer.Option(help="How the range of weights is chosen.")
    ] = "min-max"
    percentile_calibration_value: Annotated[
        float | None,
        typer.Option(help="Percentile of the calibration of this name, 90 to 100; default: 99.99."),
    ] = None
    act_quantizer_schema: Annotated[
        Schema,
        typer.Option(
            help="How activations span the range: from end to end, around zero, or around zero "
            "unless no value is negative."
        ),
    ] = "asymmetric"
    param_quantizer_schema: Annotated[Schema, typer.Option(help="How weights span the range.")] = (
        "asymmetric"
    )
    minimum_range: Annotated[
        float | None,
        typer.Option(
            "--minimum-range", help="Smallest max - min of an encoding; default: the stack's."
        ),
    ] = None

    def percentile(self) -> float:
        """Return the percentile; raise HexsimError if one is given that nothing reads."""
        from hexsim.quantization.options import PERCENTILE

        calibrations = (self.act_quantizer_calibration, self.param_quantizer_calibration)
        if self.percentile_calibration_value is None:
            return PERCENTILE
        if "percentile" not in calibrations:
            raise HexsimError(
                f"{spelled('percentile_calibration_value')} is about the calibration percentile; "
                "give "
                f"{spelled('act_quantizer_calibration')} percentile or "
                f"{spelled('param_quantizer_calibration')} "
                "percentile too"
            )
        return self.percentile_calibration_value


@dataclass(frozen=True)
class Bits:
    """The widths of quantised values."""

    act_bitwidth: Annotated[
        int | None, typer.Option("--act-bitwidth", help="Bits of activations: 8 (default) or 16.")
    ] = None
    weights_bitwidth: Annotated[
        int | None,
        typer.Option("--weights-bitwidth", help="Bits of weights: 4, 8 (default) or 16."),
    ] = None
    pack_4_bit_weights: Annotated[
        bool, typer.Option("--pack-4-bit-weights", help="Store two 4-bit weights in a byte.")
    ] = False
    no_weight_quantization: Annotated[
        bool,
        typer.Option(
            "--no-weight-quantization",
            help="Store weights and biases as floats beside their encodings; dsp quantises them "
            "at load.",
        ),
    ] = False
    bias_bitwidth: Annotated[
        int | None, typer.Option("--bias-bitwidth", help="Bits of biases: 8 (default) or 32.")
    ] = None
    bitwidth: Annotated[
        int | None,
        typer.Option("--bitwidth", help="8, or 16 for activations and weights with 32-bit biases."),
    ] = None

    def widths(self) -> BitWidths:
        """Combine the options; raise HexsimError if they exclude each other."""
        return bit_widths(
            self.bitwidth, self.act_bitwidth, self.weights_bitwidth, self.bias_bitwidth
        )


@dataclass(frozen=True)
class MixedPrecision:
    """Overrides, and the width of tensors that they keep float."""

    override_params: OverrideParamsOption = None
    float_bitwidth: Annotated[
        int | None,
        typer.Option(
            "--float-bitwidth",
            help="Bits of tensors that an override keeps float without a width: 16 or 32 "
            "(default).",
        ),
    ] = None
    float_bias_bitwidth: Annotated[
        int | None,
        typer.Option(
            "--float-bias-bitwidth",
            help="Bits of the biases of float layers: 16 or 32; default: those of the layer.",
        ),
    ] = None

    def require_overrides(self) -> None:
        """Raise HexsimError if widths of floats are given without overrides."""
        for name, given in (
            ("float_bitwidth", self.float_bitwidth),
            ("float_bias_bitwidth", self.float_bias_bitwidth),
        ):
            if given is not None and not self.override_params:
                raise HexsimError(
                    f"{spelled(name)} is about layers that overrides keep float; give "
                    f"{spelled('override_params')} "
                    "too"
                )


@dataclass(frozen=True)
class HtaSections:
    """The sections to compile for the tensor engine of a chip."""

    enable_hta: Annotated[
        bool, typer.Option("--enable-hta", help="Compile sections for the tensor engine of AIP.")
    ] = False
    hta_partitions: Annotated[
        list[str] | None,
        typer.Option(
            "--hta-partitions",
            help="Layer ids of the sections: 0-11,15-20 for --chip, or sm8150:0-20,40-60; "
            "repeatable per chip; default: all that can be compiled.",
        ),
    ] = None
    chip: Annotated[
        str,
        typer.Option(
            "--chip",
            help="Chip whose tensor engine --enable-hta compiles for, or for whose tensor "
            "processor the graph is prepared; its stack gives the minimum range. The default has a "
            "tensor engine, not a tensor processor.",
            autocompletion=chip_names,
        ),
        CHIP,
    ] = DSP_CHIP
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack",
            help="Software stack; default: the chip's own. It gives the minimum range of an "
            "encoding: 0.01 in releases 1.x, 0.0001 in those of 2.x that are simulated.",
            autocompletion=stack_names,
        ),
        STACK,
    ] = None

    def platform(self) -> Platform:
        """Return the chip and the stack, whose minimum range the quantiser follows."""
        from hexsim.deployment.platform import Platform

        return Platform.load(self.chip, self.stack)

    def orders(self, model: Model) -> tuple[CompileOrder, ...]:
        """Return the sections of `model` to compile; raise HexsimError if one is not possible."""
        from hexsim.deployment.offline_hta import orders

        if self.hta_partitions and not self.enable_hta:
            raise HexsimError(
                f"{spelled('hta_partitions')} says what {spelled('enable_hta')} compiles; give both"
            )
        if not self.enable_hta:
            return ()
        compile_orders = orders(self.hta_partitions or (), self.chip, self.stack)
        for order in compile_orders:
            order.check(model)
        return compile_orders


def quantization_options(
    ranges: Ranges, bits: Bits, precision: MixedPrecision, minimum_range: float
) -> QuantizationOptions:
    """Combine the groups; raise HexsimError for choices that exclude each other.

    `minimum_range` is that of the stack.
    """
    from hexsim.quantization.options import QuantizationOptions

    widths = bits.widths()
    precision.require_overrides()
    float_bits = 32 if precision.float_bitwidth is None else precision.float_bitwidth
    return QuantizationOptions(
        enhanced=ranges.use_enhanced_quantizer or "none",
        adjusted_weights=ranges.use_adjusted_weights_quantizer,
        symmetric_weights=ranges.use_symmetric_quantize_weights
        or ranges.param_quantizer_schema != "asymmetric",
        axis_weights=ranges.axis_quant,
        activation_bits=cast(Literal[8, 16], widths.activations),
        weight_bits=cast(Literal[4, 8, 16], widths.weights),
        pack_4_bit_weights=bits.pack_4_bit_weights,
        float_weights=bits.no_weight_quantization,
        bias_bits=cast(Literal[8, 32], widths.biases),
        minimum_range=minimum_range if ranges.minimum_range is None else ranges.minimum_range,
        float_bits=cast(Literal[16, 32], float_bits),
        float_bias_bits=cast(Literal[16, 32] | None, precision.float_bias_bitwidth),
        activation_calibration=ranges.act_quantizer_calibration,
        weight_calibration=ranges.param_quantizer_calibration,
        percentile=ranges.percentile(),
        activation_schema=ranges.act_quantizer_schema,
        unsigned_weights=ranges.param_quantizer_schema == "unsignedsymmetric",
        row_weights=ranges.use_per_row_quantization,
    )
