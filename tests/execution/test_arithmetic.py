"""Arithmetic: equal for runtimes that compute the same, and else not."""

import numpy as np

from hexsim.layers import Neuron
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.dlc.made import with_weights
from tests.small_networks import Sketch


def test_it_tells_what_computes_otherwise() -> None:
    model = culprits.quantized()
    floats = Model(model.network)
    dsp = deployed(model, "dsp", "sd835").arithmetic
    assert dsp == deployed(model, "fxp_cpu", "sd835").arithmetic
    assert dsp != deployed(model, "dsp", "sd855").arithmetic, "signed weights are rescaled"
    cpu = deployed(floats, "cpu", "sd835").arithmetic
    assert cpu != deployed(floats, "gpu", "sd835").arithmetic
    assert cpu != deployed(model, "cpu", "sd835").arithmetic, "it has the weights of the codes"


def test_places_that_compute_the_same_codes_are_equal() -> None:
    model = culprits.quantized()
    dsp = deployed(model, "dsp", "sd835").arithmetic
    assert dsp == deployed(model, "htp", "sd8gen4").arithmetic
    on_hta = deployed(model, "aip", "sd855", sections=[["c0", "c1"]])
    assert dsp != on_hta.arithmetic, "the other layers are on HVX of V66"
    names = [layer.name for layer in model.network.layers]
    assert dsp == deployed(model, "aip", "sd855", sections=[names[:2], names[2:]]).arithmetic
    axis = quantize(model.network, culprits.inputs(), QuantizationOptions(axis_weights=True))
    signed = deployed(axis, "dsp", "sd855")
    assert signed.signed_layers
    assert signed.arithmetic == deployed(axis, "fxp_cpu", "sd835").arithmetic


def test_functions_are_exact_on_the_tensor_processor() -> None:
    net = Sketch((1, 4, 4, 8))
    network = with_weights(net.network(net.add(Neuron, net.conv("in", 8), function="sigmoid")))
    feed = {"in": np.ones((1, 4, 4, 8), np.float32)}
    model = quantize(network, [feed])
    dsp, htp = deployed(model, "dsp", "sd835"), deployed(model, "htp", "sd8gen4")
    assert dsp.arithmetic != htp.arithmetic
    assert htp.arithmetic == htp.arithmetic
