"""Every layer gets parameters of its own."""

from hexsim.layers import Convolution
from hexsim.quantization.own_parameters import with_own_parameters
from tests.quantization.equalization.made import Made, difference


def test_shared_constants_part_and_missing_biases_appear() -> None:
    made = Made().conv("a", 4, bias=False).conv("b", 4, bias=False).conv("c", 4)
    made.layers[1] = made.layers[1].replace(weight="a.w")
    network = made.network()
    owned = with_own_parameters(network)
    parameters = [layer.parameters for layer in owned.layers if isinstance(layer, Convolution)]
    assert parameters == [("a.a.w", "a.bias"), ("b.a.w", "b.bias"), ("c.w", "c.b")]
    assert difference(network, owned) == 0
    assert with_own_parameters(owned) == owned
