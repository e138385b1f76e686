"""The second rounding of asymmetric weights, alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from hexsim.accuracy.rescaling import rescaling_losses
from hexsim.accuracy.validation import validate
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from hexsim.results.validation import worst_rescaled
from tests.accuracy import culprits
from tests.deployed import deployed

SIGNED_LAYERS = {"c0", "c1", "c2", "c3"}


def with_weight(values: np.ndarray, encoding: Encoding | AxisEncoding) -> Model:
    """The classifier of the culprits' network with other weights."""
    model = culprits.quantized()
    constant = model.network.constants["fc.w"]
    constants = {**model.network.constants, "fc.w": constant.derive(values.shape, lambda _: values)}
    parameters = {"fc.w": encoding}
    network = replace(model.network, constants=constants)
    return Model(network, model.activations, parameters, quantized=True)


def test_worked_example() -> None:
    """K = 159: distances 204 and -25 become 127 and -16 steps of 256/159, 204.48 and -25.76."""
    encoding = Encoding(8, -0.51, 2.04, 0.01, -51)
    values = np.tile(np.array([[2.04], [-0.25]], np.float32), (256, 10))
    (loss,) = rescaling_losses(with_weight(values, encoding), {"fc"})
    errors = 0.01 * (127 * 256 / 159 - 204), 0.01 * (16 * 256 / 159 - 25)
    error = max(errors)
    assert (loss.layer, loss.weight) == ("fc", "fc.w")
    assert loss.max_error == pytest.approx(error)
    assert loss.steps == pytest.approx(error / 0.01)
    signal, noise = 2.04**2 + 0.25**2, errors[0] ** 2 + errors[1] ** 2
    assert loss.sqnr_db == pytest.approx(10 * math.log10(signal / noise))


def test_only_asymmetric_weights_of_signed_layers_that_do_not_fit_are_rescaled() -> None:
    values = np.ones((512, 10), np.float32)
    symmetric = Encoding.symmetric_of(1.0)
    assert rescaling_losses(with_weight(values, symmetric), {"fc"}) == ()
    assert rescaling_losses(with_weight(values, AxisEncoding((symmetric,) * 10)), {"fc"}) == ()
    wide, fits = Encoding(8, -0.51, 2.04, 0.01, -51), Encoding(8, -1.28, 1.27, 0.01, -128)
    assert rescaling_losses(with_weight(2 * values, fits), {"fc"}) == ()
    assert rescaling_losses(with_weight(2 * values, wide), {"c0", "c1"}) == ()
    assert len(rescaling_losses(with_weight(2 * values, wide), {"fc"})) == 1


def test_the_worst_comes_by_signal_to_noise() -> None:
    losses = rescaling_losses(culprits.quantized("outlier"), SIGNED_LAYERS)
    assert worst_rescaled(losses).sqnr_db == min(loss.sqnr_db for loss in losses)


def test_a_validation_has_them_where_the_kernels_are_signed() -> None:
    model, feeds = culprits.quantized(), culprits.inputs(1)
    assert validate(deployed(model), feeds).rescaled_weights == ()
    losses = validate(deployed(model, "dsp", "sd855"), feeds).rescaled_weights
    assert losses == rescaling_losses(model, SIGNED_LAYERS) != ()


def test_the_tensor_engine_rescales_nothing() -> None:
    model, feeds = culprits.quantized(), culprits.inputs(1)
    mixed = deployed(model, "aip", "sd855", sections=[["c0"], ["c2"]])
    losses = validate(mixed, feeds).rescaled_weights
    assert [loss.layer for loss in losses] == ["c1", "c3"]
