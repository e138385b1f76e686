"""Both documented forms of --hta-partitions are read; anything else is one sentence."""

import pytest

from hexsim.errors import HexsimError
from hexsim.planning.sections import Listed, listed, parse
from tests.small_networks import Sketch


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
