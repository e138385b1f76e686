"""The page has every layer drawn, in its type's colour, and is the same every time and small."""

import re

import pytest

from hexsim.reports.pages import network_page
from tests.reports.pages.conftest import data_of
from tests.reports.pages.networks import HOSTILE, chain, in_floats, with_codes


def test_every_layer_is_a_box_in_the_colour_of_its_type() -> None:
    page = network_page("m", in_floats(chain(3)))
    data = data_of(page)
    fills = {entry["type"]: entry["fill"] for entry in data["legend"]}
    assert len(set(fills.values())) == len(fills) == 3
    drawn = re.findall(r'data-box="(\d+)"><title>(.*?)</title><rect [^>]*fill="(#\w+)"', page)
    assert drawn == [
        (str(n), f"{row['name']}: {'input' if n == 0 else row['type']}", fills[row["type"]])
        for n, row in enumerate(data["layers"])
    ]


def test_bytes_are_the_same_every_time() -> None:
    pages = {network_page("m", with_codes(chain(2), per_channel=True)) for _ in range(2)}
    assert len(pages) == 1


def test_hostile_names_are_nowhere_markup() -> None:
    page = network_page(HOSTILE, in_floats(chain(2, prefix=HOSTILE)))
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert data_of(page)["layers"][1]["name"] == f"{HOSTILE}0"


@pytest.mark.slow
def test_a_thousand_layers_with_channels_fit_five_megabytes() -> None:
    name = "a/rather/long/name/of/a/layer/in/a/block/as/exporters/write/them/conv"
    container = with_codes(chain(1000, prefix=name, channels=32), per_channel=True)
    assert len(network_page("m", container)) < 5_000_000
