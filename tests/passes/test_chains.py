"""Passes keep what a network computes, whatever the size of its constants."""

import numpy as np
import onnxruntime
import pytest

import hexsim
from hexsim.layers import Neuron
from tests.passes.chains import chain, exact
from tests.thorough import THOROUGH

_SEEDS = 1500 if THOROUGH else 100
_TAILS = ("sigmoid", "silu")
"""Functions whose kernel in onnxruntime has no relative precision far below zero."""


def assert_same(seed: int) -> None:
    """The answer is that of onnxruntime to 1e-5, where float32 keeps the exact one."""
    model, inputs = chain(seed)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    expected, reference = session.run(None, inputs)[0], exact(model, inputs)
    loaded = hexsim.load(model)
    (answer,) = hexsim.run(loaded, [inputs], runtime="cpu")
    (values,) = answer.values()
    with np.errstate(all="ignore"):
        rounding = np.abs(expected - reference)
        kept = np.isfinite(expected) & (rounding <= 1e-4 * np.abs(reference))
        functions = {layer.function for layer in loaded.network.layers if isinstance(layer, Neuron)}
        if functions.intersection(_TAILS):
            kept &= np.abs(expected) > 1e-3
        allowed = 1e-5 * np.abs(expected) + 4 * rounding
        wrong = kept & ~(np.abs(values - expected) <= allowed)
    assert not wrong.any(), f"seed {seed}: {values[wrong][:3]} for {expected[wrong][:3]}"


def test_chains_of_elementwise_operators() -> None:
    for seed in range(3000, 3040):
        assert_same(seed)


@pytest.mark.slow
def test_many_chains() -> None:
    for seed in range(_SEEDS):
        assert_same(seed)
