"""What a release and the encodings take away from the tensor engine.

Sections by themselves cover all they may; listed ones are taken or refused with advice.

Both documented forms of --hta-partitions are read; anything else is one sentence.

Sections in words and numbers.
"""

from dataclasses import replace

import pytest
from hypothesis import given

from hexsim.datasheets import stacks
from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Network
from hexsim.layers import Elementwise, LocalResponseNorm, Neuron, Reshape, Softmax
from hexsim.planning.sections import (
    Listed,
    automatic,
    from_ids,
    hta_refusal,
    hta_sections,
    is_single,
    listed,
    parse,
    refusals,
)
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import HtaSection, Model
from tests.dlc.made import small_network, with_encodings
from tests.small_networks import Sketch, networks

OLD = stacks.load("snpe-1.30").partitioning
NEW = stacks.load("qnn-2.45").partitioning


@pytest.mark.parametrize(("channels", "taken"), [(3, True), (16, True), (17, False)])
def test_input_channels(channels: int, taken: bool) -> None:
    net = Sketch((1, 4, 4, channels))
    first = net.conv("in", 64)
    model = Model(net.network(net.conv(first, 64)))
    conv, inner = model.network.layers
    assert (hta_refusal(conv, model, OLD) is None) is taken
    assert hta_refusal(conv, model, NEW) is None
    assert hta_refusal(inner, model, OLD) is None, "only inputs of the network are limited"


def test_a_scalar_has_one_channel() -> None:
    net = Sketch(())
    network = net.network(net.add(Neuron, "in", function="tanh"))
    assert hta_refusal(network.layers[0], Model(network), OLD) is None


def test_constant_operands_came_later() -> None:
    net = Sketch((1, 4, 4, 3))
    net.constants["k"] = Constant("k", (3,), lambda: pytest.fail("read"))
    model = Model(net.network(net.add(Elementwise, "in", "k", kind="sum")))
    (layer,) = model.network.layers
    assert "later releases" in (hta_refusal(layer, model, OLD) or "")
    assert hta_refusal(layer, model, NEW) is None


def test_weights_have_eight_bits_and_one_encoding() -> None:
    network = small_network()
    first = network.layers[0]
    assert hta_refusal(first, with_encodings(network), OLD) is None
    assert "per channel" in (hta_refusal(first, with_encodings(network, axis=True), OLD) or "")
    assert "not 4" in (hta_refusal(first, with_encodings(network, bits=4), OLD) or "")


def test_wide_activations_came_later() -> None:
    model = with_encodings(small_network())
    first = model.network.layers[0]
    model.activations[first.output] = Encoding.from_range(0, 1, 16)  # type: ignore[index]
    assert "16 bits" in (hta_refusal(first, model, OLD) or "")
    assert hta_refusal(first, model, NEW) is None


SINGLE = stacks.load("snpe-1.23").partitioning
SEVERAL = stacks.load("snpe-1.30").partitioning


def _branched() -> Model:
    """conv (1), two convs (2, 3), sum (4), LRN (5), conv (6), reshape (7), LRN of it all."""
    net = Sketch((1, 8, 8, 3))
    stem = net.conv("in", 8)
    both = net.add(Elementwise, net.conv(stem, 8), net.conv(stem, 8), kind="sum")
    normed = net.add(LocalResponseNorm, both, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    return Model(net.network(net.add(Reshape, net.conv(normed, 8), shape=(1, 8, 8, 8))))


def test_automatic_sections() -> None:
    assert automatic(_branched(), SEVERAL) == (range(4), range(5, 7))
    assert automatic(_branched(), SINGLE) == (range(4),)


def test_a_run_that_multiplies_nothing_is_no_section() -> None:
    net = Sketch((1, 8, 8, 3))
    flat = net.add(Reshape, "in", shape=(1, 8, 8, 3))
    model = Model(net.network(flat))
    assert automatic(model, SEVERAL) == ()
    assert from_ids(model, [(1, 1)], SEVERAL) == (range(1),)


def test_no_section_begins_with_a_softmax() -> None:
    net = Sketch((1, 8, 8, 3))
    normed = net.add(LocalResponseNorm, "in", size=5, alpha=1e-4, beta=0.75, bias=1.0)
    first = net.conv(net.add(Softmax, normed, axes=(3,)), 8)
    model = Model(net.network(net.add(Softmax, first, axes=(3,))))
    assert automatic(model, SEVERAL) == (range(2, 4),)
    with pytest.raises(HexsimError, match=r"softmax cannot be the first layer on the HTA"):
        from_ids(model, [(2, 4)], SEVERAL)
    last = Sketch((1, 8, 8, 3))
    model = Model(last.network(last.add(Softmax, last.conv("in", 8), axes=(3,))))
    assert automatic(model, SEVERAL) == (range(2),)
    with pytest.raises(HexsimError, match=r"begins with .*; begin the section at .*\(id 1\)"):
        from_ids(model, [(2, 2)], SEVERAL)


@given(networks())
def test_automatic_sections_are_legal_and_maximal(network: Network) -> None:
    model = Model(network)
    why = refusals(model, SEVERAL)
    sections = automatic(model, SEVERAL)
    inside = {at for section in sections for at in section}
    for at, layer in enumerate(network.layers):
        if at in inside:
            assert why[at] is None
        elif why[at] is None:
            assert network.macs(layer) == 0
            beside = [at - 1 in inside, at + 1 in inside]
            assert not any(beside), "a section ends where the engine takes the next layer"
    if sections:
        ids = [(s[0] + 1, s[-1] + 1) for s in sections]
        assert from_ids(model, ids, SEVERAL) == sections


@given(networks())
def test_the_single_section_is_the_longest_legal_prefix(network: Network) -> None:
    model = Model(network)
    why = refusals(model, SINGLE)
    ends = [
        end
        for end in range(1, len(why) + 1)
        if not any(why[:end]) and is_single(network, range(end))
    ]
    assert automatic(model, SINGLE) == ((range(max(ends)),) if ends else ())
    for end in ends:
        assert from_ids(model, [(0, end)], SINGLE) == (range(end),)


def test_listed_sections_are_sorted_and_inputs_dropped() -> None:
    assert from_ids(_branched(), [(6, 7), (0, 2)], SEVERAL) == (range(2), range(5, 7))


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ([(0, 3), (3, 4)], r"sections 1-3 and 3-4 overlap at .*\(id 3\); end the first one at 2"),
        ([(2, 3), (2, 4)], r"overlap at .*\(id 2\); start the second one at 4"),
        ([(2, 9)], r"2-9 is out of range: .*'reshape6' \(id 7\); .* is 2-7"),
        ([(8, 9)], r"8-9 is out of range: .* is 7$"),
        ([(0, 0)], r"0-0 holds inputs only; .* is layer 'convolution0' \(id 1\)"),
        ([(2, 7)], r"holds layer 'localresponsenorm4' \(id 5\), .* legal section is 2-4"),
        ([(5, 5)], r"cannot run on the HTA \(.*\); the nearest legal section is 6-7"),
    ],
)
def test_bad_lists_name_the_layer_and_the_nearest_legal_cut(
    ids: list[tuple[int, int]], sentence: str
) -> None:
    with pytest.raises(HexsimError, match=sentence) as caught:
        from_ids(_branched(), ids, SEVERAL)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ([(0, 1), (3, 4)], r"allow one HTA section, and .*\(id 3\) starts a second one; .* is 1$"),
        ([(2, 4)], r"starts at .*\(id 2\), .* to start at layer 'convolution0' \(id 1\); .* 1-4"),
        ([(0, 3)], r"ends after .*\(id 3\), where 2 tensors leave it .* allow one; .* is 1-4"),
    ],
)
def test_the_old_rules(ids: list[tuple[int, int]], sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        from_ids(_branched(), ids, SINGLE)


def test_a_network_of_nothing_the_engine_takes() -> None:
    net = Sketch((1, 8, 8, 3))
    lrn = net.add(LocalResponseNorm, "in", size=5, alpha=1e-4, beta=0.75, bias=1.0)
    model = Model(net.network(lrn))
    assert automatic(model, SEVERAL) == automatic(model, SINGLE) == ()
    with pytest.raises(HexsimError, match="no other layer of the network can either"):
        from_ids(model, [(1, 1)], SEVERAL)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0-11", Listed("", ((0, 11),))),
        ("0-11,177-215", Listed("", ((0, 11), (177, 215)))),
        ("0-11, 15 - 20", Listed("", ((0, 11), (15, 20)))),
        ("7", Listed("", ((7, 7),))),
        ("sm8150:0-20,40-60", Listed("sm8150", ((0, 20), (40, 60)))),
        ("SM8150:", Listed("sm8150", None)),
    ],
)
def test_lists(text: str, expected: Listed) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", ":", "0-", "-3", "0--3", "a-b", "0-3,", "sm8150:x", "1;2"])
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(HexsimError, match="is not a list of layer ids"):
        parse(text)


def test_a_section_backwards_names_the_right_way() -> None:
    with pytest.raises(HexsimError, match=r"section 5-3, .* write 3-5"):
        parse("0-1,5-3")


def test_ids_count_the_inputs_first() -> None:
    net = Sketch((1, 4, 4, 3))
    network = net.network(net.pool(net.pool("in")))
    assert listed(network, range(2)) == "1-2"
    assert listed(network, range(1, 2)) == "2"


def test_ends_ids_and_shares() -> None:
    model = with_encodings(small_network())
    names = tuple(layer.name for layer in model.network.layers)
    coded = replace(model, hta=(HtaSection("sd855", names[1:3], b"1234"),))
    (section,) = hta_sections(coded)
    assert (section.ids, section.first, section.last) == ("2-3", names[1], names[2])
    assert (section.layers, section.record_bytes) == (2, 4)
    assert section.inputs == (model.network.layers[0].output,)
    assert section.outputs == (model.network.layers[2].output,)
    second = model.network.macs(model.network.layers[1])
    assert section.macs == second
    assert section.mac_share == second / model.network.total_macs


def test_models_without_sections() -> None:
    assert (
        hta_sections(Model(small_network())) == hta_sections(with_encodings(small_network())) == []
    )
