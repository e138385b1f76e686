"""Both sides of a paired run say what the engines themselves say."""

from dataclasses import replace

import numpy as np
import pytest

from hexsim.accuracy.paired_run import PairedRun
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Neuron
from hexsim.lowering import lower
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed, planned
from tests.int8.single_layer import SIGNED, codes_of


def test_codes_of_every_tensor_made_real() -> None:
    model, (feed, *_) = culprits.quantized(), culprits.inputs()
    floats, others = PairedRun(deployed(model, "dsp", "sd855")).run(feed)
    (subnet,) = planned(model).subnets
    calls = tuple(lower(subnet, model, signed_kernels=SIGNED))
    codes = codes_of(subnet, calls, feed)
    assert set(codes) == set(others) == set(floats)
    for name, values in codes.items():
        encoding = model.activations[name]
        np.testing.assert_array_equal(encoding.dequantize(values), others[name])
    scores = FloatEngine(model.network).run(feed)["scores"]
    np.testing.assert_allclose(floats["scores"], scores, rtol=1e-5, atol=1e-5)


def test_a_tensor_without_an_encoding_is_named() -> None:
    model = culprits.quantized()
    without = replace(model, activations={**model.activations})
    del without.activations["in"]
    with pytest.raises(HexsimError, match="tensor 'in' has no encoding; quantise the model with"):
        PairedRun(deployed(without, "dsp", "sd855"))


def test_layers_on_the_tensor_engine_take_weights_as_they_are() -> None:
    model, (feed, *_) = culprits.quantized(), culprits.inputs()
    layers = [layer.name for layer in model.network.layers]
    rescaled, unsigned, mixed, every = (
        PairedRun(deployed(model, "aip", chip, sections=sections)).run(feed)[1]
        for chip, sections in (
            ("sd855", []),
            ("sd835", []),
            ("sd855", [["c0", "c1"]]),
            ("sd855", [layers]),
        )
    )
    for name in ("c0.out", "c1.out"):
        np.testing.assert_array_equal(mixed[name], unsigned[name])
        assert not np.array_equal(mixed[name], rescaled[name])
    assert not np.array_equal(mixed["c2.out"], unsigned["c2.out"]), "HVX rescales"
    for name, values in every.items():
        np.testing.assert_array_equal(values, unsigned[name])


def test_tensors_of_a_layer_that_falls_back_are_no_codes() -> None:
    network = culprits.network()
    elu = Neuron(name="elu", inputs=("scores",), outputs=("end",), function="elu")
    tensors = {**network.tensors, "end": Tensor("end", (1, 10))}
    network: Network = replace(
        network, layers=(*network.layers, elu), tensors=tensors, outputs=("end",)
    )
    paired = PairedRun(deployed(quantize(network, culprits.inputs())))
    assert (paired.runtimes["scores"], paired.runtimes["end"]) == ("dsp", "cpu")
    assert "scores" in paired.encodings
    assert "end" not in paired.encodings


def test_a_float_runtime_needs_no_encodings() -> None:
    paired = PairedRun(deployed(culprits.network(), "cpu"))
    floats, others = paired.run(culprits.inputs()[0])
    assert paired.encodings == {}
    np.testing.assert_allclose(floats["scores"], others["scores"], rtol=1e-5, atol=1e-5)
