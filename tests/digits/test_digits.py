"""Trained networks of 8x8 digits: a spoilt channel and how to save it, Relu6, and a block for int8.

Six of the 600 digits held out are one point. All five seeds are judged, none is chosen: the
first in the quick tests, the others in the slow ones. The tables of docs/results/equalisation.md
say more.
"""

from typing import Literal

import numpy as np
import pytest

from hexsim.accuracy.output_errors import Distance
from hexsim.graph.ir import Network
from hexsim.quantization.equalization import equalize, without_relu6
from hexsim.quantization.overrides import FloatOverride, Overrides
from hexsim.quantization.quantizer import quantize
from tests.digits.architecture import KINDS, SEEDS, Kind
from tests.digits.data import HELD_OUT, digits
from tests.digits.networks import DEPTHWISE, EXPANSION, load, spoilt, widest
from tests.digits.scores import (
    MODES,
    calibration,
    dsp_scores,
    float_scores,
    int8_scores,
    points,
)

each_seed = pytest.mark.parametrize(
    "seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:])]
)


def _broken(seed: int) -> Network:
    network = load("relu", seed)
    return spoilt(network, widest(network))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_networks_are_well_trained(kind: Kind, seed: int) -> None:
    network = load(kind, seed)
    assert len(digits().test_labels) == HELD_OUT
    assert points(float_scores(network)) > 98.5
    (chain,) = equalize(network).chains
    assert len(chain.chain.layers) == 7


@pytest.mark.parametrize("seed", SEEDS)
def test_spoiling_a_channel_and_equalizing_it_leave_the_float_function(seed: int) -> None:
    expected = float_scores(load("relu", seed))
    broken = _broken(seed)
    for other in (broken, equalize(broken).network):
        assert np.abs(float_scores(other) - expected).max() <= 1e-4 * np.abs(expected).max()


@pytest.mark.slow
@each_seed
def test_a_spoilt_channel_collapses_per_tensor_and_is_saved_twice(seed: int) -> None:
    broken = _broken(seed)
    reference = points(float_scores(broken))
    lost = {name: reference - points(int8_scores(broken, mode)) for name, mode in MODES.items()}
    assert lost["default"] > 5
    assert lost["symmetric"] > 50
    for saved in ("per channel", "cle", "cle, bc"):
        assert abs(lost[saved]) <= 1, lost


@each_seed
@pytest.mark.parametrize("bits", [16, 32])
def test_a_spoilt_channel_is_saved_by_two_float_layers(seed: int, bits: Literal[16, 32]) -> None:
    broken = _broken(seed)
    keys = {f"{name}.weight": FloatOverride(bits) for name in (EXPANSION, DEPTHWISE)}
    model = quantize(broken, calibration(), overrides=Overrides({}, keys))
    assert abs(points(float_scores(broken)) - points(dsp_scores(model))) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_relu6_becomes_relu(seed: int) -> None:
    """The bound holds few values back, so answers stay; the scores do change."""
    network = load("relu6", seed)
    done = equalize(network)
    assert done.without_relu6 == ("conv0", "dw1", "pw1", "dw2", "pw2", "dw3")
    before, after = float_scores(network), float_scores(done.network)
    assert 20 < Distance.between(before, after).sqnr_db < 50
    assert abs(points(before) - points(after)) <= 0.5
    alone = float_scores(without_relu6(network, done.without_relu6))
    assert np.abs(after - alone).max() <= 1e-4 * np.abs(alone).max()


@pytest.mark.slow
def test_the_friendly_block_needs_no_remedy() -> None:
    """Mean over the seeds, default mode: well above MobileNetV1's block."""

    def ratio(kind: Kind) -> float:
        networks = [load(kind, seed) for seed in SEEDS]
        pairs = [
            (float_scores(network), int8_scores(network, MODES["default"])) for network in networks
        ]
        return float(np.mean([Distance.between(*pair).sqnr_db for pair in pairs]))

    assert ratio("friendly") > ratio("relu6") + 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_bias_correction_helps_on_average(kind: Kind) -> None:
    networks = [load(kind, seed) for seed in SEEDS]
    floats = [float_scores(network) for network in networks]
    ratios = {
        name: np.mean(
            [
                Distance.between(a, int8_scores(network, MODES[name])).sqnr_db
                for a, network in zip(floats, networks, strict=True)
            ]
        )
        for name in ("cle", "cle, bc")
    }
    assert ratios["cle, bc"] > ratios["cle"] + 1
