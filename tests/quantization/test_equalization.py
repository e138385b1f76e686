"""Which convolutions form chains, and the sentence why the others do not.

Relu6 inside a chain becomes Relu; at its end it stays.

Scales move between layers: reaches become equal, functions stay.

High biases move on where a batch norm says that they are high.

Every layer gets parameters of its own.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Constant, Network
from hexsim.layers import NO_CLAMP, RELU, RELU6, Clamp, Convolution, Elementwise, Neuron
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.quantization.equalization import (
    absorb_high_biases,
    bounded,
    equalize,
    equalizing_factors,
    find_chains,
    rescaled,
    sets,
    with_own_parameters,
    without_relu6,
)
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import Optimized
from hexsim.reports.quantizer_log import optimization_log
from tests.quantization.equalization.made import Made, difference, inputs
from tests.thorough import examples


@pytest.mark.parametrize("clamp", [NO_CLAMP, RELU, RELU6])
def test_the_documented_patterns(clamp: Clamp) -> None:
    pair = Made().conv("a", 8, clamp=clamp).conv("b", 4, clamp=clamp).network()
    (chain,) = find_chains(pair)
    assert chain.layers == ("a", "b")
    assert chain.end == "its output 'b.y' is an output of the network"
    made = Made().conv("a", 8, clamp=clamp).conv("d", 8, groups=8, kernel=3, clamp=clamp)
    (chain,) = find_chains(made.conv("b", 4).network())
    assert chain.layers == ("a", "d", "b")


def test_a_long_chain_is_cut_where_channels_mix() -> None:
    made = Made().conv("a", 8).conv("d", 8, groups=8).conv("e", 8, groups=8).conv("b", 4)
    made.conv("twice", 8, groups=4).conv("c", 6, groups=2)
    network = made.network()
    (chain,) = find_chains(network)
    runs = [[layer.name for layer in run] for run in sets(chain, network)]
    assert runs == [["a", "d", "e", "b"], ["b", "twice"], ["twice", "c"]]


def test_a_chain_may_start_and_end_with_a_depthwise_layer() -> None:
    network = Made().conv("d", 4, groups=4).conv("a", 8).conv("e", 8, groups=8).network()
    (chain,) = find_chains(network)
    assert [len(run) for run in sets(chain, network)] == [2, 2]


def test_two_readers_end_a_chain() -> None:
    made = Made().conv("a", 8).conv("b", 8).conv("c", 8, "a.y")
    made.layer(Elementwise(name="add", inputs=("b.y", "c.y"), outputs=("s",), kind="sum"))
    chains = {chain.layers: chain.end for chain in find_chains(made.network())}
    read = "its output is read by elementwise_binary_op 'add', which is no convolution"
    assert chains == {("a",): "2 layers read its output 'a.y'", ("b",): read, ("c",): read}


def test_what_else_ends_a_chain() -> None:
    clipped = Made().conv("a", 8, clamp=Clamp(0.0, 1.0)).conv("b", 8).network()
    first, _ = find_chains(clipped)
    assert "limits values to 0 .. 1 and is neither Relu nor Relu6" in first.end
    made = Made().conv("a", 8, clamp=NO_CLAMP)
    made.layer(Neuron(name="act", inputs=("a.y",), outputs=("t",), function="tanh"))
    first, _ = find_chains(made.conv("b", 8).network())
    assert first.end == "the activation behind it, tanh 'act', is no Relu"
    first, _ = find_chains(Made().conv("a", 8).pool().conv("b", 8).network())
    assert first.end == "its output is read by pooling 'pool', which is no convolution"
    first, _ = find_chains(Made().conv("a", 8).conv("b", 8).network("a.y", "b.y"))
    assert first.end == "its output 'a.y' is an output of the network"


def test_only_inner_layers_lose_their_bound() -> None:
    made = Made().conv("a", 8, clamp=RELU6).conv("b", 8).conv("c", 8, clamp=RELU6)
    network = made.conv("d", 8, clamp=RELU6).network()
    names = bounded(find_chains(network), network)
    assert names == ("a", "c")
    clamps = {
        layer.name: layer.clamp
        for layer in without_relu6(network, names).layers
        if isinstance(layer, Convolution)
    }
    assert clamps == {"a": RELU, "b": RELU, "c": RELU, "d": RELU6}


def test_a_layer_outside_any_chain_keeps_its_bound() -> None:
    network = Made().conv("a", 8, clamp=RELU6).pool().conv("b", 8).network()
    assert bounded(find_chains(network), network) == ()


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
    assert line.startswith("High biases of 'a' stay where they are: 'b' pads its input")


def test_a_model_without_norms_is_named_also_where_the_next_layer_pads() -> None:
    network = Made().conv("a", 4).conv("b", 4, kernel=3, clamp=NO_CLAMP).network()
    done = absorb_high_biases(network, find_chains(network))
    assert (done.unknown, done.padded) == (("a",), ())


def log_of(network: Network) -> list[str]:
    equalization = equalize(network)
    log = optimization_log(Optimized(Model(equalization.network), equalization))
    return [text for _, text in log]


def test_without_a_batch_norm_the_layer_is_named() -> None:
    network = Made().conv("a", 4).conv("b", 4).conv("c", 4).network()
    done = absorb_high_biases(network, find_chains(network))
    assert (done.network, done.absorptions, done.unknown) == (network, (), ("a", "b"))


def test_shared_constants_part_and_missing_biases_appear() -> None:
    made = Made().conv("a", 4, bias=False).conv("b", 4, bias=False).conv("c", 4)
    made.layers[1] = made.layers[1].replace(weight="a.w")
    network = made.network()
    owned = with_own_parameters(network)
    parameters = [layer.parameters for layer in owned.layers if isinstance(layer, Convolution)]
    assert parameters == [("a.a.w", "a.bias"), ("b.a.w", "b.bias"), ("c.w", "c.b")]
    assert difference(network, owned) == 0
    assert with_own_parameters(owned) == owned
