"""All steps together: what the report says, and that built-in networks keep their function."""

import numpy as np
import pytest

import hexsim
from hexsim.errors import HexsimError
from hexsim.inputs.seeded import seeded_calibration
from hexsim.layers import RELU6
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.equalization import equalize, without_relu6
from tests.quantization.equalization.made import Made, difference


def test_the_report() -> None:
    made = Made().conv("a", 8, clamp=RELU6, bias=False).conv("b", 4).pool()
    done = equalize(made.conv("c", 4, kernel=1).network())
    (chain,) = done.chains
    assert chain.chain.layers == ("a", "b")
    assert chain.smallest < 1 < chain.largest
    assert [chain.layers for chain in done.skipped] == [("c",)]
    assert done.without_relu6 == ("a",)
    assert done.without_moments == ("a",)
    assert done.rescaled == {"a.w", "a.bias", "a.y", "b.w", "b.b"}


def test_layers_that_share_a_weight_part() -> None:
    made = Made().conv("a", 4).conv("b", 4)
    made.layers[1] = made.layers[1].replace(weight="a.w", bias="a.b")
    network = made.network()
    done = equalize(network).network
    assert difference(network, done) < 1e-5
    assert {"a.a.w", "a.a.b", "b.a.w", "b.a.b"} == set(done.weights)


def test_a_network_without_chains_stays() -> None:
    network = Made().conv("a", 4).pool().network()
    done = equalize(network)
    assert done.network == network
    assert (done.chains, done.rescaled) == ((), frozenset())


def test_a_bad_weight_is_named() -> None:
    made = Made().conv("a", 4).conv("b", 4)
    made.constants["b.w"] = made.constants["b.w"].derive((1, 1, 4, 4), lambda w: w * np.nan)
    with pytest.raises(HexsimError, match=r"weight tensor 'b.w' holds NaN"):
        equalize(made.network())


@pytest.mark.parametrize(
    ("name", "chains"),
    [
        pytest.param("mobilenet_v1", 1, marks=pytest.mark.slow),
        ("mobilenet_v2", 16),
        pytest.param("mobilenet_v1_quantization_friendly", 1, marks=pytest.mark.slow),
        pytest.param("resnet50", 16, marks=pytest.mark.slow),
    ],
)
def test_built_in_networks_keep_their_function(name: str, chains: int) -> None:
    network = hexsim.load(name).network
    done = equalize(network)
    assert len(done.chains) == chains
    assert not done.without_moments
    reference = without_relu6(network, done.without_relu6)
    (output,) = network.outputs
    before, after = (FloatEngine(variant) for variant in (reference, done.network))
    for feed in seeded_calibration(network, 2):
        expected, got = before.run(feed)[output], after.run(feed)[output]
        assert np.abs(got - expected).max() <= 1e-4 * np.abs(expected).max()
