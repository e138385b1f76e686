"""Arithmetic: equal for runtimes that compute the same, and else not."""

from hexsim.quantization.model import Model
from tests.accuracy import culprits
from tests.deployed import deployed


def test_it_tells_what_computes_otherwise() -> None:
    model = culprits.quantized()
    floats = Model(model.network)
    dsp = deployed(model, "dsp", "sd835").arithmetic
    assert dsp == deployed(model, "fxp_cpu", "sd835").arithmetic
    assert dsp != deployed(model, "dsp", "sd855").arithmetic, "signed weights are rescaled"
    cpu = deployed(floats, "cpu", "sd835").arithmetic
    assert cpu != deployed(floats, "gpu", "sd835").arithmetic
    assert cpu != deployed(model, "cpu", "sd835").arithmetic, "it has the weights of the codes"
