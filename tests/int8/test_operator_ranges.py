"""Every operator is within a few steps of float arithmetic, whatever the ranges of its tensors.

The slow twins of the kernels follow the same rules as the kernels, so they cannot tell that a rule
is wrong. Here the judge is the operator in float64 (tests/int8/float_operators.py) on the numbers
that the codes of inputs, weights and biases stand for.
"""

import numpy as np
import pytest

from tests.int8.operator_cases import (
    DATA,
    MODES,
    SCALES,
    WIDTHS,
    errors_of,
    modes_of,
    operators,
    quantized_of,
)

OPERATORS = tuple(operators())
BOUND = 1.1
"""Steps that a result may be off: half of one by rounding, and as much by constants."""
QUICK_DATA = ("ordinary", "tiny", "far", "lopsided")
QUICK_MODES = ("8 bits", "8 bits per axis", "16 bits", "16 bits per axis")


_COARSE_16 = ("cmrn", "batchnorm", "normalization", "pooling", "resize")
"""Layers whose constants or sums are as coarse as codes of 16 bits."""


def bound_of(operator, mode):
    """The steps that docs/reference/arithmetic.md allows where that is more than `BOUND`."""
    of_16_bits = mode.options.activation_bits == 16
    kind = operator.layer.type
    if kind == "recurrent":
        return 110.0 if of_16_bits else 4.0
    if kind == "resize" and not of_16_bits:
        return 5.0  # results are codes of the input, a step of which is up to four of the output
    if kind in _COARSE_16 and of_16_bits:
        return 3.0
    return BOUND


def worst(operator, modes, kinds, scales, widths):
    """The cases with errors beyond their bounds, as texts."""
    complaints = []
    two = bool(operator.constants) or len(operator.shapes) > 1
    if operator.layer.type == "recurrent":  # the states have the codes of the output
        scales, widths = ["alike"], [width for width in widths if width != "narrow"]
    for mode in modes:
        for data in kinds:
            if data in operator.without or mode.options.weight_bits in operator.without:
                continue
            for scale in scales if two else ["alike"]:
                for width in widths:
                    model, feeds = quantized_of(operator, data, scale, width, mode)
                    error = np.abs(errors_of(operator, model, feeds, mode)).max()
                    if not error <= bound_of(operator, mode):
                        complaints.append(f"{mode}, {data}, {scale}, {width}: {error:.3g} steps")
    return complaints


@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_close_to_float(operator):
    modes = [mode for mode in modes_of(operator) if mode.name in QUICK_MODES]
    assert not worst(operator, modes, QUICK_DATA, ["alike"], ["calibrated"])


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS, ids=str)
def test_close_to_float_in_all_ranges(operator):
    assert not worst(operator, modes_of(operator), DATA, SCALES, WIDTHS)


def test_every_mode_is_tried():
    assert {mode.name for operator in OPERATORS for mode in modes_of(operator)} == {
        mode.name for mode in MODES
    }
