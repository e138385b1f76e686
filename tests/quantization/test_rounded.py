"""A quantised network in floats is what the integer kernels make of it, but for their sums."""

import numpy as np
import pytest

from hexsim.execution.plan_executor import PlanExecutor
from hexsim.quantization.quantizer import quantize
from hexsim.quantization.rounded import Codes, run_rounded
from tests.deployed import planned
from tests.quantization.equalization.made import Made, inputs


def test_layers_agree_with_the_integer_kernels_within_one_step() -> None:
    network = Made().conv("a", 8, kernel=3).pool().conv("b", 4).network()
    model = quantize(network, inputs())
    executor = PlanExecutor(planned(model, "dsp"), model)
    codes = Codes(model)
    for feed in inputs():
        codes.add("in", feed["in"])
    for layer in network.layers:
        for output in run_rounded(layer, model, codes):
            codes.add(layer.output, output[layer.output])
    outputs = [feed["b.y"] for feed in codes.feeds(["b.y"])]
    step = model.activations["b.y"].delta
    for feed, got in zip(inputs(), outputs, strict=True):
        assert np.abs(executor.run(feed)["b.y"] - got).max() <= 1.01 * step
        assert np.ptp(got) > 50 * step


def test_what_nobody_reads_any_more_is_forgotten() -> None:
    model = quantize(Made().conv("a", 8).network(), inputs())
    codes = Codes(model)
    for feed in inputs(2):
        codes.add("in", feed["in"])
    assert len(list(codes.feeds(["in"]))) == 2
    codes.forget_all_but({"a.y"})
    with pytest.raises(KeyError):
        list(codes.feeds(["in"]))
