"""The second rounding of asymmetric weights, alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from hexsim.accuracy.rescaling import rescaling_losses, worst
from hexsim.accuracy.validation import validate
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.model import Model
from tests.accuracy import culprits
from tests.deployed import deployed


def with_weight(values: np.ndarray, encoding: Encoding | AxisEncoding) -> Model:
    """The classifier of the culprits' network with other weights."""
    model = culprits.quantized()
    constant = model.network.constants["fc.w"]
    constants = {**model.network.constants, "fc.w": constant.derive(values.shape, lambda _: values)}
    parameters = {"fc.w": encoding}
    network = replace(model.network, constants=constants)
    return Model(network, model.activations, parameters, quantized=True)


def test_worked_example() -> None:
    """Distances 102 and -25 become 127 and -31 steps of 102/127: -24.9, a tenth of a step off."""
    encoding = Encoding(8, -0.51, 2.04, 0.01, -51)
    values = np.tile(np.array([[1.02], [-0.25]], np.float32), (256, 10))
    (loss,) = rescaling_losses(with_weight(values, encoding))
    error = 0.01 * abs(31 * 102 / 127 - 25)
    assert (loss.layer, loss.weight) == ("fc", "fc.w")
    assert loss.max_error == pytest.approx(error)
    assert loss.steps == pytest.approx(error / 0.01)
    signal, noise = 1.02**2 + 0.25**2, error**2
    assert loss.sqnr_db == pytest.approx(10 * math.log10(signal / noise))


def test_only_asymmetric_weights_are_rescaled() -> None:
    values = np.ones((512, 10), np.float32)
    symmetric = Encoding.symmetric_of(1.0)
    assert rescaling_losses(with_weight(values, symmetric)) == ()
    assert rescaling_losses(with_weight(values, AxisEncoding((symmetric,) * 10))) == ()
    assert len(rescaling_losses(culprits.quantized())) == 5


def test_the_worst_comes_by_signal_to_noise() -> None:
    losses = rescaling_losses(culprits.quantized("outlier"))
    assert worst(losses).sqnr_db == min(loss.sqnr_db for loss in losses)


def test_a_validation_has_them_where_the_kernels_are_signed() -> None:
    model, feeds = culprits.quantized(), culprits.inputs(1)
    assert validate(deployed(model), feeds).rescaled == ()
    found = validate(deployed(model, "dsp", "sd855"), feeds).rescaled
    assert found == rescaling_losses(model)


def test_the_tensor_engine_rescales_nothing() -> None:
    model, feeds = culprits.quantized(), culprits.inputs(1)
    mixed = deployed(model, "aip", "sd855", sections=[["c0"], ["c2"]])
    found = validate(mixed, feeds).rescaled
    assert [loss.layer for loss in found] == ["c1", "c3", "fc"]
