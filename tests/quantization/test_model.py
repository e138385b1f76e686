"""Codes are computed, or those of the file; float and quantised are told apart."""

import weakref

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant
from hexsim.quantization.model import Model, require_float
from tests.dlc.made import small_network, with_encodings


def test_codes_are_remembered_while_somebody_holds_them() -> None:
    model = with_encodings(small_network())
    (name, *_) = model.parameters
    encoding = model.parameters[name]
    values = model.network.constants[name].value()
    codes = model.codes(name)
    np.testing.assert_array_equal(codes, encoding.quantize(values))
    assert model.codes(name) is codes
    held = weakref.ref(codes)
    del codes
    assert held() is None


def test_stored_codes_win() -> None:
    model = with_encodings(small_network())
    (name, *_) = model.parameters
    codes = np.full(model.network.shape(name), 7, np.uint8)
    stored = {name: Constant(name, codes.shape, codes, "uint8")}
    again = Model(model.network, model.activations, model.parameters, stored, quantized=True)
    np.testing.assert_array_equal(again.codes(name), codes)


def test_only_a_float_network_can_be_quantized() -> None:
    network = small_network()
    model = with_encodings(network)
    assert require_float(Model(network)) is network
    assert model.network is network
    with pytest.raises(HexsimError, match="'sketch' is quantised already"):
        require_float(model)
