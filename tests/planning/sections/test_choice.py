"""Sections by themselves cover all they may; listed ones are taken or refused with advice."""

import pytest
from hypothesis import given

from hexsim.datasheets import stacks
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.layers import Elementwise, LocalResponseNorm, Reshape, Softmax
from hexsim.planning.sections import automatic, from_ids, refusals
from hexsim.planning.sections.single import is_single
from hexsim.quantization.model import Model
from tests.small_networks import Sketch, networks

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
