"""Passes keep what a network computes, whatever the size of its constants."""

import numpy as np
import onnxruntime
import pytest

import hexsim
from hexsim.layers import Neuron
from tests.passes.chains import chain, exact
from tests.thorough import THOROUGH

_SEEDS = 1500 if THOROUGH else 100
_KERNELS = {"sigmoid", "silu", "softplus"}
"""Functions whose kernel in onnxruntime has an absolute precision: far below zero its results are
3e-5 off, and zero from -18 or -88 on, where the exponentials that a file writes have small numbers.
Recognising these functions is meant, so their small results are not compared."""
_STEPS = {"Greater", "Where", "Floor"}
"""Operators that make a large difference of a small one."""
_DENORMAL = 1e-37
"""Smaller numbers become zero or not, as the processor is set."""


def assert_same(seed: int) -> None:
    """The answer is that of onnxruntime to 1e-5, where float32 keeps the exact one."""
    model, inputs = chain(seed)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    expected, reference = session.run(None, inputs)[0], exact(model, inputs)
    loaded = hexsim.load(model)
    (answer,) = hexsim.run(loaded, [inputs], runtime="cpu", chip="sd835")
    (values,) = answer.values()
    with np.errstate(all="ignore"):
        rounding = np.abs(expected - reference)
        kept = np.isfinite(expected) & (rounding <= 1e-4 * np.abs(reference))
        kept &= (np.abs(expected) > _DENORMAL) | (values == 0) | (np.abs(values) > _DENORMAL)
        layers = loaded.network.layers
        functions = {layer.function for layer in layers if isinstance(layer, Neuron)}
        if functions & _KERNELS:
            has_steps = any(node.op_type in _STEPS for node in model.graph.node)
            kept &= np.abs(expected) > (np.inf if has_steps else 0.05)
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
