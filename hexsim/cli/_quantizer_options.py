"""Options of `hexsim quantize` for the quantiser, and for the sections compiled for AIP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from hexsim.cli._files import CHIP
from hexsim.cli._options import OverrideParamsOption, StackOption
from hexsim.cli._signature import Keywords
from hexsim.errors import HexsimError, spelled
from hexsim.records import dataclass
from hexsim.runtimes import DEFAULT_CHIP

if TYPE_CHECKING:
    from hexsim.deployment.offline_hta import CompileOrder
    from hexsim.deployment.platform import Platform
    from hexsim.quantization.model import Model
    from hexsim.quantization.options import QuantizationOptions


_WIDTHS = ("activation_bits", "weight_bits", "bias_bits")
_DEFAULT = 8
_WIDE_BIAS = 32

Limit = Literal["weights", "activations", "both"]
Calibration = Literal["min-max", "sqnr", "entropy", "mse", "percentile"]
Schema = Literal["asymmetric", "symmetric", "unsignedsymmetric"]


@dataclass(frozen=True)
class Ranges(Keywords):
    """The rules for the range of an encoding."""

    HEADING = "Encodings"

    enhanced: Annotated[
        Limit | None,
        "Search for ranges with less error than min to max; alone for weights and "
        "activations, or limited to one of them. It trims the ends of a range by a few steps "
        "and keeps rare values that are far away: 10, 100 or 1000 beside 10 000 normal values. "
        "To leave those out, take --act-quantizer-calibration percentile.",
    ] = None
    adjusted_weights: Annotated[
        bool, "Widen the range of 8-bit weights so that none saturates (an approximation)."
    ] = False
    symmetric_weights: Annotated[
        bool,
        "Signed weights around zero; ranges of one sign waste half the codes, "
        "so this scores worse on most networks, on tensor processors too.",
    ] = False
    axis_weights: Annotated[bool, "Symmetric weights, a step per output channel."] = False
    row_weights: Annotated[bool, "As --axis-quant, for fully connected layers only."] = False
    activation_calibration: Annotated[
        Calibration, "How the range of activations is chosen; sqnr is the enhanced search."
    ] = "min-max"
    weight_calibration: Annotated[Calibration, "How the range of weights is chosen."] = "min-max"
    percentile: Annotated[
        float | None, "Percentile of the calibration of this name, 90 to 100; default: 99.99."
    ] = None
    activation_schema: Annotated[
        Schema,
        "How activations span the range: from end to end, around zero, or around zero "
        "unless no value is negative.",
    ] = "asymmetric"
    weight_schema: Annotated[Schema, "How weights span the range."] = "asymmetric"
    minimum_range: Annotated[
        float | None, "Smallest max - min of an encoding; default: the stack's."
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the arguments; raise HexsimError for a percentile that nothing reads."""
        given = super().keywords()
        calibrations = (self.activation_calibration, self.weight_calibration)
        if self.percentile is not None and "percentile" not in calibrations:
            ways = map(spelled, ("activation_calibration", "weight_calibration"))
            raise HexsimError(
                f"{spelled('percentile')} is about the calibration percentile; give "
                f"{' or '.join(f'{way} percentile' for way in ways)} too"
            )
        schema = given.pop("weight_schema")
        given["symmetric_weights"] |= schema != "asymmetric"
        return {**given, "unsigned_weights": schema == "unsignedsymmetric"}


@dataclass(frozen=True)
class Bits(Keywords):
    """The widths of quantised values, overrides, and the width of tensors that they keep float."""

    activation_bits: Annotated[int | None, "Bits of activations: 8 (default) or 16."] = None
    weight_bits: Annotated[int | None, "Bits of weights: 4, 8 (default) or 16."] = None
    pack_4_bit_weights: Annotated[bool, "Store two 4-bit weights in a byte."] = False
    float_weights: Annotated[
        bool,
        "Store weights and biases as floats beside their encodings; dsp quantises them at load.",
    ] = False
    bias_bits: Annotated[int | None, "Bits of biases: 8 (default) or 32."] = None
    bitwidth: Annotated[int | None, "8, or 16 for activations and weights with 32-bit biases."] = (
        None
    )
    override_params: OverrideParamsOption = None
    float_bits: Annotated[
        int | None,
        "Bits of tensors that an override keeps float without a width: 16 or 32 (default).",
    ] = None
    float_bias_bits: Annotated[
        int | None, "Bits of the biases of float layers: 16 or 32; default: those of the layer."
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the arguments; HexsimError for widths that exclude each other or say nothing."""
        for name in ("float_bits", "float_bias_bits"):
            if getattr(self, name) is not None and not self.override_params:
                raise HexsimError(
                    f"{spelled(name)} is about layers that overrides keep float; give "
                    f"{spelled('override_params')} too"
                )
        given = {**super().keywords(), **self.widths()}
        del given["bitwidth"], given["override_params"]
        return given

    def widths(self) -> dict[str, int]:
        """Return the bits of activations, weights and biases.

        --bitwidth 16 stores biases in 32 bits, because the SNPE tools allow only biases of 8 and 32
        bits; what they do is not documented. Raises HexsimError if it is combined with the others.
        """
        given = {name: getattr(self, name) for name in _WIDTHS}
        if self.bitwidth is None:
            return {name: _DEFAULT if bits is None else bits for name, bits in given.items()}
        if mixed := [name for name, bits in given.items() if bits is not None]:
            raise HexsimError(
                f"{spelled('bitwidth')} sets the bits of activations, weights and biases, "
                f"{spelled(mixed[0])} some of them; give one or the other"
            )
        if self.bitwidth not in (8, 16):
            raise HexsimError(f"{spelled('bitwidth')} is 8 or 16, not {self.bitwidth}")
        bias = _DEFAULT if self.bitwidth == _DEFAULT else _WIDE_BIAS
        return dict(zip(_WIDTHS, (self.bitwidth, self.bitwidth, bias), strict=True))


@dataclass(frozen=True)
class HtaSections:
    """The sections to compile for the tensor engine of a chip."""

    enable_hta: Annotated[bool, "Compile sections for the tensor engine of AIP."] = False
    hta_partitions: Annotated[
        list[str] | None,
        "Layer ids of the sections: 0-11,15-20 for --chip, or sm8150:0-20,40-60; "
        "repeatable per chip; default: all that can be compiled.",
    ] = None
    chip: Annotated[
        str | None,
        "Chip for whose tensor processor the graph is prepared, or whose tensor engine "
        "--enable-hta compiles for. Its stack gives the minimum range of an encoding: 0.01 in "
        "releases 1.x and if there is none, 0.0001 in those of 2.x that are simulated.",
        CHIP,
    ] = None
    stack: StackOption = None

    def platform(self) -> Platform:
        """Return the chip and the stack; the chip is that of every command if there is none."""
        from hexsim.deployment.platform import Platform

        return Platform.load(self.chip or DEFAULT_CHIP, self.stack)

    def minimum_range(self, platform: Platform) -> float:
        """Return the smallest range of an encoding: of the stack, if it or a chip is named."""
        from hexsim.quantization.encodings import MINIMUM_RANGE

        named = self.chip or self.stack
        return platform.stack.quantization.min_range if named else MINIMUM_RANGE

    def orders(self, model: Model) -> tuple[CompileOrder, ...]:
        """Return the sections of `model` to compile; raise HexsimError if one is not possible."""
        from hexsim.deployment.offline_hta import orders

        if self.hta_partitions and not self.enable_hta:
            raise HexsimError(
                f"{spelled('hta_partitions')} says what {spelled('enable_hta')} compiles; give both"
            )
        if not self.enable_hta:
            return ()
        compile_orders = orders(self.hta_partitions or (), self.chip or DEFAULT_CHIP, self.stack)
        for order in compile_orders:
            order.check(model)
        return compile_orders


def quantization_options(ranges: Ranges, bits: Bits, minimum_range: float) -> QuantizationOptions:
    """Combine the groups; raise HexsimError for choices that exclude each other."""
    from hexsim.quantization.options import QuantizationOptions

    given = {**bits.keywords(), **ranges.keywords()}
    asked = {name: value for name, value in given.items() if value is not None}
    return QuantizationOptions(**{"minimum_range": minimum_range, **asked})
