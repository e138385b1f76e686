"""The networks of a decoder: shapes and bytes, worked by hand for a small one."""

from __future__ import annotations

import pytest

from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.htp.cost import CallCost, cost_of
from hexsim.layers import FullyConnected
from hexsim.llm.architecture import Architecture, architecture_of
from hexsim.llm.network import Activations, Widths, decoder
from hexsim.quantization.model import Model

_CONFIG = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "vocab_size": 320,
}


def _small(**changes: object) -> Architecture:
    return architecture_of({**_CONFIG, **changes}, "small", "config.json")


def _costs(model: Model, widths: Widths) -> dict[str, CallCost]:
    runtime = "htp_fp16" if widths.floats else "htp"
    deployment = deploy(model, Platform.load("sd8gen4"), runtime, cpu_fallback=False)
    return {call.layer.name: cost_of(call, deployment.network) for call in deployment.plan.calls()}


def test_the_shapes_are_those_of_the_architecture() -> None:
    """Four heads of 32 numbers attend to 2 heads of keys; 5 new tokens after 59 cached."""
    network = decoder(_small(), 5, 64, Widths()).network
    shapes = {name: tensor.shape for name, tensor in network.tensors.items()}
    assert shapes["hidden"] == (5, 64)
    assert shapes["layer1.query3"] == (5, 32)
    assert shapes["layer1.query"] == (4, 5, 32)
    assert shapes["layer1.key_cache.past"] == (2, 59, 32)
    assert shapes["layer1.key_cache"] == (2, 64, 32)
    assert shapes["layer1.scores"] == (1, 2, 2, 5, 64)
    assert shapes["layer1.merged"] == (5, 128)
    assert shapes["head"] == (5, 320)
    assert len(network.states) == 4
    assert network.shape(network.states["layer0.value_cache.past"]) == (2, 5, 32)


def test_multiply_adds_are_those_of_the_matrices_and_of_attention() -> None:
    """Every token meets every weight; scores and their use take 4 heads x 64 tokens x 32 each."""
    small = _small()
    layer = 64 * (128 + 2 * 64) + 128 * 64 + 3 * 64 * 96
    assert small.layer_weights == layer
    attention = 2 * 4 * 64 * 32
    network = decoder(small, 5, 64, Widths()).network
    assert network.total_macs == 5 * (2 * (layer + attention) + 64 * 320)


@pytest.mark.parametrize(
    ("weights", "activations", "cache_bits"), [(4, "16", 8), (8, "8", 8), (4, "float", 16)]
)
def test_the_bytes_that_come_from_ddr(
    weights: int, activations: Activations, cache_bits: int
) -> None:
    """Weights in their bits, the head in 8, and the cache of 63 tokens; all sizes fill tiles."""
    small, widths = _small(), Widths(weights, activations)
    model = decoder(small, 1, 64, widths)
    costs = _costs(model, widths)
    for layer in model.network.layers:
        if isinstance(layer, FullyConnected):
            elements = model.network.constants[layer.weight].elements
            bits = 8 if layer.name == "head" else weights
            assert costs[layer.name].weight_bytes == elements * bits / 8
    state_bytes = sum(cost.state_bytes for cost in costs.values())
    assert state_bytes == 2 * 2 * 2 * 32 * 63 * cache_bits / 8
    assert small.cache_bytes(63, cache_bits) == state_bytes


def test_heads_that_share_keys_are_rows_of_one_product() -> None:
    """Of 16 bits 32 rows fill a tile: two of 2 heads share one with the keys, 17 do not."""
    costs = _costs(decoder(_small(), 1, 64, Widths()), Widths())
    for name in ("layer0.scores", "layer0.attention"):
        assert costs[name].hmx_macs == 2 * 32 * 64 * 32
        assert costs[name].ordered_vectors == 2 * 64 * 32 * 2 / 128
    more = _costs(decoder(_small(), 17, 64, Widths()), Widths())["layer0.scores"]
    assert (more.hmx_macs, more.ordered_vectors) == (4 * 32 * 64 * 32, 4 * 64 * 32 * 2 / 128)
    assert costs["layer0.softmax"].softmax_vectors == 8 * 4 * 64 * 2 / 128  # heads share a crouton


def test_each_head_has_a_product_of_its_own_and_joining_them_moves_nothing() -> None:
    """Each of 4 + 2 + 2 heads reads all 64 columns of the hidden state."""
    network = decoder(_small(), 5, 64, Widths()).network
    readers = network.consumers["layer0.attention_norm"]
    names = [f"{kind}{head}" for kind in ("query", "key", "value") for head in range(2)]
    assert {layer.name for layer in readers} == {
        f"layer0.{name}" for name in (*names, "query2", "query3")
    }
    costs = _costs(decoder(_small(), 5, 64, Widths()), Widths())
    assert [costs[f"layer0.{name}"].operators for name in ("query3", "query3.head")] == [1, 0]
    assert costs["layer0.query"].operators == 0
    assert costs["layer0.key_cache"].operators > 0


def test_weights_beside_floats_are_unpacked() -> None:
    """The 64 x 32 weights of a head's queries become 4 KiB of half floats, which are 32 vectors."""
    floats = Widths(4, "float")
    assert _costs(decoder(_small(), 1, 64, floats), floats)["layer0.query0"].unpacked_vectors == 32
    assert (
        _costs(decoder(_small(), 1, 64, Widths()), Widths())["layer0.query0"].unpacked_vectors == 0
    )


def test_a_conversion_of_an_input_is_paid_once() -> None:
    """The mask, by the first layer that reads it; later layers read it as it is then."""
    costs = _costs(decoder(_small(), 1, 64, Widths()), Widths())
    first, later = costs["layer0.masked"].vectors, costs["layer1.masked"].vectors
    assert first == later + 4 * 64 * 2 / 128


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"model_type": "qwen2"}, {"layer0.query0.bias", "layer0.query3.bias"}),
        ({"model_type": "qwen3"}, {"layer0.query_norm.weight"}),
        ({"model_type": "gemma2"}, {"layer0.attention_norm_after.weight"}),
    ],
)
def test_families_have_their_own_weights(changes: dict[str, str], names: set[str]) -> None:
    plain = decoder(_small(), 1, 64, Widths()).network.constants.keys()
    family = decoder(_small(**changes), 1, 64, Widths()).network.constants.keys()
    assert names <= family - plain


def test_a_part_rotated_leaves_the_rest_as_it_is() -> None:
    network = decoder(_small(partial_rotary_factor=0.5), 1, 64, Widths()).network
    assert network.shape("layer0.query_rotated.low") == (4, 1, 8)
    assert network.shape("layer0.query_rotated.rest") == (4, 1, 16)
    assert network.shape("layer0.query_rotated") == (4, 1, 32)


def test_tokens_that_fill_the_context_read_no_cache() -> None:
    """As a prompt processor of the whole context does; keys and values are outputs all the same."""
    whole = decoder(_small(), 64, 64, Widths()).network
    block = decoder(_small(), 63, 64, Widths()).network
    assert not whole.states
    assert len(block.states) == 4
    assert len(whole.outputs) == len(block.outputs) == 5
    assert whole.shape("layer0.scores")[-2:] == (64, 64)
    assert all(
        cost.state_bytes == 0
        for cost in _costs(decoder(_small(), 64, 64, Widths()), Widths()).values()
    )


@pytest.mark.parametrize("tokens", [0, 65])
def test_tokens_that_do_not_fit_the_context_are_refused(tokens: int) -> None:
    with pytest.raises(HexsimError, match="does not fit a context of 64"):
        decoder(_small(), tokens, 64, Widths())
