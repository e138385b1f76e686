"""The options of quantisation."""

from typing import Literal, get_args

from hexsim.errors import HexsimError, require_number, unknown
from hexsim.quantization.encodings import MINIMUM_RANGE, FloatBits
from hexsim.records import dataclass

LEAST_RANGE, MOST_RANGE = 1e-30, 1e30
"""Bounds of `minimum_range`: float32 has no room for smaller steps of 16 bits or wider ranges."""
Enhanced = Literal["none", "weights", "activations", "both"]
Calibration = Literal["min-max", "sqnr", "entropy", "mse", "percentile"]
CALIBRATIONS: tuple[Calibration, ...] = get_args(Calibration)
"""The calibrations, by the names of the quantisers of SNPE 2.x and QAIRT."""
PERCENTILE = 99.99
"""Default of `percentile_calibration_value` (QAIRT; documented)."""
Schema = Literal["asymmetric", "symmetric", "unsignedsymmetric"]
SCHEMAS: tuple[Schema, ...] = get_args(Schema)
"""The schemas, by the names of the quantisers of SNPE 2.x and QAIRT."""


@dataclass(frozen=True)
class QuantizationOptions:
    """Choices of the quantiser, with the defaults of snpe-dlc-quantize.

    `enhanced` selects the tensors for the enhanced search. Weights are asymmetric unless
    `symmetric_weights`; `axis_weights` are symmetric, with one encoding per output channel;
    `adjusted_weights` widens the range instead of shifting it; `pack_4_bit_weights` stores two
    4-bit weights in a byte; `float_weights` stores float weights and biases beside their encodings,
    and fixed-point runtimes quantise them at load. `bias_bits` 8 gives a bias its own encoding; 32
    stores it at the accumulator's scale. `minimum_range` is the smallest max - min of an encoding,
    in real units. `float_bits` is the width of float tensors whose override states none,
    `float_bias_bits` the width of biases of float layers, None for the width of the layer.
    The calibrations choose the range of values that an encoding spans, sqnr being the enhanced
    search; `percentile` (90 to 100) is that of the calibration of this name. The schema of weights
    is that of the options above; `unsigned_weights` makes symmetric weights without negative values
    asymmetric, which AIMET calls unsigned symmetric. `row_weights` is `axis_weights` for fully
    connected layers only.
    Raises HexsimError for choices that exclude each other.
    """

    enhanced: Enhanced = "none"
    adjusted_weights: bool = False
    symmetric_weights: bool = False
    axis_weights: bool = False
    activation_bits: Literal[8, 16] = 8
    weight_bits: Literal[4, 8, 16] = 8
    pack_4_bit_weights: bool = False
    bias_bits: Literal[8, 32] = 8
    minimum_range: float = MINIMUM_RANGE
    float_bits: FloatBits = 32
    float_bias_bits: FloatBits | None = None
    float_weights: bool = False
    activation_calibration: Calibration = "min-max"
    weight_calibration: Calibration = "min-max"
    percentile: float = PERCENTILE
    activation_schema: Schema = "asymmetric"
    unsigned_weights: bool = False
    row_weights: bool = False

    def __post_init__(self) -> None:
        require_number("minimum_range", self.minimum_range, LEAST_RANGE, MOST_RANGE)
        for what, bits, known in (
            ("activations", self.activation_bits, (8, 16)),
            ("weights", self.weight_bits, (4, 8, 16)),
            ("biases", self.bias_bits, (8, 32)),
            ("floats", self.float_bits, (16, 32)),
            (
                "float biases",
                32 if self.float_bias_bits is None else self.float_bias_bits,
                (16, 32),
            ),
        ):
            if bits not in known:
                *most, last = map(str, known)
                raise HexsimError(f"{what} can have {', '.join(most)} or {last} bits, not {bits}")
        if self.pack_4_bit_weights and self.weight_bits != 4:
            raise HexsimError(
                f"only 4-bit weights can be packed, these have {self.weight_bits} bits; "
                "quantise them to 4 bits or do not ask for packing"
            )
        if self.pack_4_bit_weights and self.float_weights:
            raise HexsimError(
                "packing is for codes of weights, and weights are to stay float; leave one of the "
                "two out"
            )
        if self.adjusted_weights:
            self._check_adjusted()
        self._check_calibrations()

    @property
    def calibration_of_activations(self) -> Calibration:
        """The calibration of activations, whichever option asks for it."""
        enhanced = self.enhanced in ("activations", "both")
        return "sqnr" if enhanced else self.activation_calibration

    @property
    def calibration_of_weights(self) -> Calibration:
        """The calibration of weights, whichever option asks for it."""
        enhanced = self.enhanced in ("weights", "both")
        return "sqnr" if enhanced else self.weight_calibration

    def _check_calibrations(self) -> None:
        require_number("percentile", self.percentile, 90, 100)
        for what, method, calibration in (
            ("activations", self.activation_calibration, self.calibration_of_activations),
            ("weights", self.weight_calibration, self.calibration_of_weights),
        ):
            if method not in CALIBRATIONS:
                raise unknown(f"calibration of {what}", method, CALIBRATIONS)
            if method not in ("min-max", calibration):
                raise HexsimError(
                    f"the enhanced mode is the calibration sqnr, and the calibration of {what} is "
                    f"to be {method}; leave one of the two out"
                )
        if self.activation_schema not in SCHEMAS:
            raise unknown("schema of activations", self.activation_schema, SCHEMAS)
        if self.unsigned_weights and (self.axis_weights or self.row_weights):
            raise HexsimError(
                "weights with a step per channel are symmetric with signed codes; leave "
                "unsignedsymmetric out"
            )

    def _check_adjusted(self) -> None:
        if self.weight_bits != 8:
            raise HexsimError(
                f"the adjusted mode is for 8-bit weights, not {self.weight_bits}-bit ones; "
                "leave one of the two out"
            )
        per_channel = self.axis_weights or self.row_weights
        if self.symmetric_weights or per_channel:
            kind = "per-channel" if per_channel else "symmetric"
            raise HexsimError(
                "the adjusted mode moves the zero point of asymmetric weights, which "
                f"{kind} weights do not have; leave one of the two out"
            )
        if self.weight_calibration not in ("min-max", "sqnr"):
            raise HexsimError(
                f"the adjusted mode widens the range from min to max, and the calibration of "
                f"weights is to be {self.weight_calibration}; leave one of the two out"
            )
        if self.calibration_of_weights == "sqnr":
            raise HexsimError(
                "weights can be quantised by the enhanced or by the adjusted mode, not by both; "
                "limit the enhanced mode to activations"
            )
