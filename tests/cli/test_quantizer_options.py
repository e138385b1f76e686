"""--bitwidth sets all three widths and refuses to be mixed with the options for one of them."""

import pytest

from hexsim.cli._quantizer_options import Bits
from hexsim.errors import HexsimError


def _bits(every, activations, weights, biases):
    return Bits(
        bitwidth=every, activation_bits=activations, weight_bits=weights, bias_bits=biases
    ).widths()


@pytest.mark.parametrize(
    ("given", "widths"),
    [
        ((None, None, None, None), (8, 8, 8)),
        ((None, 16, None, None), (16, 8, 8)),
        ((None, 16, 4, 32), (16, 4, 32)),
        ((8, None, None, None), (8, 8, 8)),
        ((16, None, None, None), (16, 16, 32)),
    ],
)
def test_widths(given, widths):
    assert tuple(_bits(*given).values()) == widths


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((16, 16, None, None), "activation_bits some of them; give one or the other"),
        ((8, None, 8, None), "weight_bits some of them"),
        ((8, None, None, 32), "bias_bits some of them"),
        ((4, None, None, None), "bitwidth is 8 or 16, not 4"),
    ],
)
def test_refusals(given, sentence):
    with pytest.raises(HexsimError, match=sentence):
        _bits(*given)
