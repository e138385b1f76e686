"""The accuracy tools on a network with a float layer among integer ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.experiments import sensitivity, try_remedies
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.reference import with_reference
from hexsim.accuracy.validation import validate
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import correct_biases
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, Overrides
from hexsim.quantization.quantizer import quantize
from hexsim.results.validation import Validation
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.mixed import chain, feeds, mixed


def validated(model: Model) -> Validation:
    return validate(deployed(model), culprits.inputs())


def with_float_culprit() -> Model:
    network = culprits.network("outlier")
    layer = next(layer for layer in network.layers if layer.name == culprits.CULPRIT)
    keys = Overrides({layer.outputs[0]: FloatOverride(32)})
    return quantize(network, culprits.inputs(), overrides=keys)


def test_a_float_culprit_raises_the_sqnr_of_the_outputs() -> None:
    codes, floats = culprits.quantized("outlier"), with_float_culprit()
    before, after = validated(codes), validated(floats)
    assert after.output_sqnr_db > before.output_sqnr_db + 6.0
    rows = {row.layer: row for row in after.layers}
    assert (rows[culprits.CULPRIT].runtime, rows[culprits.CULPRIT].encoding) == ("cpu", None)


def test_experiments_leave_float_layers_as_they_are() -> None:
    model = with_float_culprit()
    judge = OutputJudge(deployed(model), culprits.inputs())
    ranking = sensitivity(model, judge)
    assert culprits.CULPRIT not in {row.layer for row in ranking.layers}
    assert len(ranking.layers) == 4
    assert all(math.isfinite(row.only_db) for row in ranking.layers)
    errors = validated(model).layers
    names = [layer.name for layer in model.network.layers]
    diagnoses = diagnose(deployed(model), errors, names, judge.inputs)
    assert {diagnosis.layer for diagnosis in diagnoses} == judge.takes
    for trial in try_remedies(model, errors, judge):
        assert trial.before_db == pytest.approx(ranking.all_db)


def test_the_float_file_is_the_reference_of_a_mixed_one() -> None:
    model = mixed(16)
    restored = with_reference(model, chain())
    assert restored.network.layers == model.network.layers
    assert restored.activations == model.activations
    assert restored.floats == model.floats


def test_bias_correction_leaves_float_layers_alone() -> None:
    model = mixed(16)
    corrected, done = correct_biases(model, feeds, QuantizationOptions())
    assert [correction.layer for correction in done] == ["conv1", "conv3"]
    for name in ("conv2.w", "conv2.b"):
        before, after = (m.network.constants[name].value() for m in (model, corrected))
        np.testing.assert_array_equal(before, after)
