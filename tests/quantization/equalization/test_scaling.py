"""Scales move between layers: reaches become equal, functions stay."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Constant, Network
from hexsim.layers import Convolution
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.equalization.chains import find_chains, sets
from hexsim.quantization.equalization.scaling import equalizing_factors, rescaled
from tests.quantization.equalization.made import Made, inputs
from tests.thorough import examples


def _equalized(network: Network) -> tuple[Network, dict[str, np.ndarray]]:
    runs = [run for chain in find_chains(network) for run in sets(chain, network)]
    factors = equalizing_factors(network, runs)
    return rescaled(network, factors), factors


def _weight(network: Network, name: str) -> np.ndarray:
    return network.constants[name].value().astype(np.float64)


def test_a_pair_by_the_paper_s_formula() -> None:
    network = Made().conv("a", 8).conv("b", 4, kernel=3).network()
    r1 = np.abs(_weight(network, "a.w")).max(axis=(0, 1, 2))
    r2 = np.abs(_weight(network, "b.w")).max(axis=(0, 1, 3))
    s = np.sqrt(r1 * r2) / r2
    after, factors = _equalized(network)
    np.testing.assert_allclose(factors["a.y"], 1 / s, rtol=1e-6)
    np.testing.assert_allclose(_weight(after, "a.w"), _weight(network, "a.w") / s, rtol=1e-6)
    np.testing.assert_allclose(_weight(after, "a.b"), _weight(network, "a.b") / s, rtol=1e-6)
    scaled = _weight(network, "b.w") * s[:, None]
    np.testing.assert_allclose(_weight(after, "b.w"), scaled, rtol=1e-6)


def test_three_layers_by_aimet_s_formula() -> None:
    network = Made().conv("a", 8).conv("d", 8, groups=8, kernel=3).conv("b", 4).network()
    r1, r2 = (np.abs(_weight(network, name)).max(axis=(0, 1, 2)) for name in ("a.w", "d.w"))
    r3 = np.abs(_weight(network, "b.w")).max(axis=(0, 1, 3))
    middle = np.cbrt(r1 * r2 * r3)
    after, factors = _equalized(network)
    np.testing.assert_allclose(factors["a.y"], middle / r1, rtol=1e-6)
    np.testing.assert_allclose(factors["d.y"], r3 / middle, rtol=1e-6)
    for name in ("a.w", "d.w"):
        reach = np.abs(_weight(after, name)).max(axis=(0, 1, 2))
        np.testing.assert_allclose(reach, middle, rtol=1e-6)


def test_a_dead_channel_keeps_its_scale() -> None:
    network = Made().conv("a", 8).conv("b", 4).network()
    filters = network.constants["a.w"].value().copy()
    filters[..., 3] *= 1e-9 / np.abs(filters[..., 3]).max()
    network = network.with_layers(
        network.layers, constants=[Constant("a.w", filters.shape, filters)]
    )
    _, factors = _equalized(network)
    assert factors["a.y"][3] == 1.0
    assert np.all(np.delete(factors["a.y"], 3) != 1.0)


@st.composite
def _chains(draw: st.DrawFn) -> Network:
    made, channels = Made(draw(st.integers(0, 99))), 4
    for index in range(draw(st.integers(2, 6))):
        kind = draw(st.sampled_from(["dense", "depthwise", "twice", "grouped"]))
        groups = {"dense": 1, "grouped": 2}.get(kind, channels)
        if kind == "dense":
            channels = draw(st.sampled_from([2, 4, 8]))
        elif kind == "twice":
            channels *= 2
        made.conv(f"c{index}", channels, groups=groups, kernel=draw(st.sampled_from([1, 3])))
    return made.network()


@examples(40)
@given(_chains())
def test_functions_stay_and_reaches_become_equal(network: Network) -> None:
    after, factors = _equalized(network)
    names = list(network.producers)
    engines = [FloatEngine(variant, names) for variant in (network, after)]
    for feed in inputs():
        before, scaled = (engine.run(feed) for engine in engines)
        for name in names:
            expected = before[name] * factors.get(name, 1.0)
            np.testing.assert_allclose(scaled[name], expected, atol=1e-4 * expected.max())
    by_name = {layer.name: layer for layer in after.layers}
    (chain,) = find_chains(after)
    for run in sets(chain, after):
        first, *inner, last = (by_name[layer.name] for layer in run)
        reaches = [_written(layer, after) for layer in (first, *inner)]
        assert isinstance(last, Convolution)
        reaches.append(_read(last, after))
        for reach in reaches[1:]:
            np.testing.assert_allclose(reach, reaches[0], rtol=2e-2)
    assert set(factors) == {layer.output for layer in network.layers[:-1]}


def _written(layer: Convolution, network: Network) -> np.ndarray:
    return np.abs(_weight(network, layer.weight)).max(axis=(0, 1, 2))


def _read(layer: Convolution, network: Network) -> np.ndarray:
    """Reach of each input channel, channel by channel."""
    weight = np.abs(_weight(network, layer.weight))
    taken, made = weight.shape[2], layer.output_channels // layer.groups
    return np.array(
        [
            weight[:, :, channel % taken, start : start + made].max()
            for channel in range(taken * layer.groups)
            for start in [channel // taken * made]
        ]
    )
