"""The options of the quantisers of SNPE 2.x and QAIRT for ranges."""

from __future__ import annotations

from hexsim.snpe.option import Anyway, Option, Ours, RefusedOption

_CALIBRATIONS = ("min-max", "sqnr", "entropy", "mse", "percentile")
_SCHEMAS = ("asymmetric", "symmetric", "unsignedsymmetric")


def not_adjusted() -> dict[str, tuple[str, ...]]:
    """Return the options beside which releases of 2.x accept adjusted weights in vain.

    What they compute then is not published. An encoding per channel, a symmetric one and a search
    for less error each say what the range of a weight is, so no place is left for a wider range
    (assumed).
    """
    return {
        "--use_enhanced_quantizer": ("weights", "both"),
        "--use_symmetric_quantize_weights": (),
        "--axis_quant": (),
        "--use_per_row_quantization": (),
        "--param_quantizer": ("enhanced", "symmetric"),
        "--param_quantizer_calibration": _CALIBRATIONS[1:],
        "--param_quantizer_schema": _SCHEMAS[1:],
    }


LEGACY_OPTIONS = (
    Option(
        ("--act_quantizer",), ("MODE",), "Range of activations, by the older names.",
        {
            "tf": Anyway(),
            "enhanced": Ours("--act-quantizer-calibration", "sqnr"),
            "symmetric": Ours("--act-quantizer-schema", "symmetric"),
            "adjusted": RefusedOption(
                "the guides describe the adjusted mode for weights only; take tf or enhanced"
            ),
        },
    ),
    Option(
        ("--param_quantizer",), ("MODE",), "Range of weights, by the older names.",
        {
            "tf": Anyway(),
            "enhanced": Ours("--param-quantizer-calibration", "sqnr"),
            "symmetric": Ours("--use-symmetric-quantize-weights"),
            "adjusted": Ours("--use-adjusted-weights-quantizer"),
        },
    ),
)  # fmt: skip
"""Options that name a calibration or a schema by one word."""

CALIBRATION_OPTIONS = (
    Option(
        ("--act_quantizer_calibration",), ("CALIBRATION",),
        "How the range of activations is chosen; default: min-max.",
        Ours("--act-quantizer-calibration"), choices=_CALIBRATIONS,
    ),
    Option(
        ("--param_quantizer_calibration",), ("CALIBRATION",),
        "How the range of weights is chosen; default: min-max.",
        Ours("--param-quantizer-calibration"), choices=_CALIBRATIONS,
    ),
    Option(
        ("--percentile_calibration_value",), ("PERCENT",),
        "Percentile of the calibration of this name, 90 to 100; default: 99.99.",
        Ours("--percentile-calibration-value"), number="real",
        only_beside={
            "--act_quantizer_calibration": "percentile",
            "--param_quantizer_calibration": "percentile",
        },
    ),
    Option(
        ("--act_quantizer_schema",), ("SCHEMA",),
        "How activations span their range; default: asymmetric.", Ours("--act-quantizer-schema"),
        choices=_SCHEMAS,
    ),
    Option(
        ("--param_quantizer_schema",), ("SCHEMA",),
        "How weights span their range; default: asymmetric.", Ours("--param-quantizer-schema"),
        choices=_SCHEMAS,
    ),
    Option(
        ("--use_per_row_quantization",), (),
        "Symmetric weights of fully connected layers, a step per row.",
        Ours("--use-per-row-quantization"),
    ),
    Option(
        ("--restrict_quantization_steps",), ("STEPS",), "Codes of symmetric weights.",
        RefusedOption(
            "symmetric codes of 8 bits are -0x80 to 0x7F, and nothing else can be chosen; leave it "
            "out"
        ),
    ),
    Option(
        ("--keep_weights_quantized",), (), "Keep codes of weights in float layers.",
        RefusedOption(
            "layers that stay float have float weights; leave it out, or override the layers with "
            "integer encodings"
        ),
    ),
    Option(
        ("--ignore_encodings",), (), "Calibrate all tensors, whatever the file holds.",
        Ours("--no-override-params"),
    ),
)  # fmt: skip
"""Options that came with the later releases of 2.x, and are those of QAIRT too."""
