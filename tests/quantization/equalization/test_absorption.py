"""High biases move on where a batch norm says that they are high."""

import numpy as np
import pytest

from hexsim.graph.ir import Network
from hexsim.layers import NO_CLAMP
from hexsim.quantization.equalization import equalize
from hexsim.quantization.equalization.absorption import absorb_high_biases
from hexsim.quantization.equalization.chains import find_chains
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import Optimized
from hexsim.reports.network.quantizer_log import optimization_log
from tests.quantization.equalization.made import Made, difference

MOMENTS = [[40.0, 1.0, 400.0, -9.0], [1.0, 1.0, 100.0, 0.5]]


def _made(**second: object) -> Network:
    made = Made().conv("a", 4, moments=MOMENTS)
    high = made.constants["a.b"].value() + np.array([400, 0, 4000, 0])
    made.constants["a.b"] = made.constants["a.b"].derive((4,), lambda _: high)
    return made.conv("b", 4, clamp=NO_CLAMP, **second).network()  # type: ignore[arg-type]


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_the_published_amount_is_absorbed_and_nothing_else_changes(groups: int) -> None:
    network = _made(groups=groups)
    done = absorb_high_biases(network, find_chains(network))
    (absorption,) = done.absorptions
    assert (absorption.giver, absorption.taker) == ("a", "b")
    assert (absorption.channels, absorption.largest) == (2, 100.0)
    amount = network.constants["a.b"].value() - done.network.constants["a.b"].value()
    np.testing.assert_allclose(amount, [37, 0, 100, 0], atol=1e-3)
    moments = done.network.constants["a.m"].value()
    np.testing.assert_allclose(moments[0], [3, 1, 300, -9])
    np.testing.assert_allclose(moments[1], MOMENTS[1])
    assert difference(network, done.network) < 1e-5


def test_a_layer_that_pads_takes_nothing() -> None:
    network = _made(kernel=3)
    done = absorb_high_biases(network, find_chains(network))
    assert (done.network, done.absorptions, done.unknown) == (network, (), ())
    assert done.padded == (("a", "b"),), "and it is said"
    (line,) = (line for line in log_of(network) if "High biases" in line)
    assert line.startswith("[INFO] High biases of 'a' stay where they are: 'b' pads its input")


def log_of(network: Network) -> list[str]:
    equalization = equalize(network)
    return list(optimization_log(Optimized(Model(equalization.network), equalization)))


def test_without_a_batch_norm_the_layer_is_named() -> None:
    network = Made().conv("a", 4).conv("b", 4).conv("c", 4).network()
    done = absorb_high_biases(network, find_chains(network))
    assert (done.network, done.absorptions, done.unknown) == (network, (), ("a", "b"))
