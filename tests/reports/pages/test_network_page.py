"""The page has every layer drawn, in its type's colour, and is the same every time and small.

The page's data are what `hexsim info --json` tells; what is cut is said.
"""

import json
import re

import numpy as np
import pytest

from hexsim.dlc import Container, Metadata
from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import Elementwise
from hexsim.quantization.model import Model
from hexsim.reports.pages.network_page import network_facts, network_page
from hexsim.studies.model_info import info_of
from tests.reports.pages.conftest import data_of
from tests.reports.pages.networks import HOSTILE, chain, in_floats, with_codes


def test_every_layer_is_a_box_in_the_colour_of_its_type() -> None:
    page = network_page("m", in_floats(chain(3)))
    data = data_of(page)
    fills = {entry["type"]: entry["fill"] for entry in data["legend"]}
    assert len(set(fills.values())) == len(fills) == 3
    pattern = r'data-box="(\d+)" data-layer="[^"]*"><title>(.*?)</title><rect [^>]*fill="(#\w+)"'
    drawn = re.findall(pattern, page)
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
    assert page.count("</script>") == 3
    assert data_of(page)["layers"][1]["name"] == f"{HOSTILE}0"


@pytest.mark.slow
def test_a_thousand_layers_with_channels_fit_five_megabytes() -> None:
    name = "a/rather/long/name/of/a/layer/in/a/block/as/exporters/write/them/conv"
    container = with_codes(chain(1000, prefix=name, channels=32), per_channel=True)
    assert len(network_page("m", container)) < 5_000_000


MADE = {
    "float": in_floats(chain(2)),
    "per tensor": with_codes(chain(2)),
    "per channel": with_codes(chain(2), per_channel=True),
}


@pytest.mark.parametrize("name", MADE)
def test_numbers_are_those_of_info(name: str) -> None:
    page = json.loads(json.dumps(network_facts("m", MADE[name])))
    info = json.loads(info_of("m", MADE[name]).to_json())
    rows, shown = info.pop("layers"), page.pop("layers")
    assert info.items() <= page.items()
    for row, layer in zip(rows, shown, strict=True):
        for role, encoding in row.pop("encodings").items():
            columns = layer["encodings"][role]
            if "channels" in encoding:
                for key in ("min", "max", "delta"):
                    assert columns[key] == [channel[key] for channel in encoding["channels"]]
                assert columns["channels"] == len(encoding["channels"])
            else:
                assert columns == encoding
        assert row.items() <= layer.items()


def test_constants_are_those_of_the_layers() -> None:
    container = MADE["per tensor"]
    page = network_facts("m", container)
    constants = page["constants"]
    assert sum(constant["bytes"] for constant in constants) == page["weight_bytes"]
    for layer in page["layers"][1:-1]:
        weight = constants[layer["constants"]["weight"]]
        assert weight["name"] == f"{layer['name']}.w"
        assert weight["type"] == "uFxp_8"
        assert sum(weight["histogram"]["counts"]) == weight["elements"] == 16


def test_many_channels_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hexsim.reports.pages.network_page._CHANNELS", 6)
    container = with_codes(chain(1, channels=9), per_channel=True)
    layer = network_facts("m", container)["layers"][1]
    encoding = layer["encodings"]["weight"]
    assert (len(encoding["delta"]), encoding["left_out"], encoding["channels"]) == (6, 3, 9)
    whole = container.model.parameters["conv0.w"].channels  # type: ignore[union-attr]
    assert encoding["lowest"] == min(channel.min for channel in whole)
    assert encoding["highest"] == max(channel.max for channel in whole)


def test_the_smaller_constants_are_not_counted_if_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hexsim.reports.pages.network_page._HISTOGRAMS", 1)
    constants = network_facts("m", in_floats(chain(3)))["constants"]
    assert ["histogram" in constant for constant in constants] == [True, False, False]
    assert all("Not counted" in constant["note"] for constant in constants[1:])


def joined(count: int, constant: Constant) -> Container:
    """A sum of `count` inputs and a constant."""
    names = tuple(f"x{n}" for n in range(count))
    layer = Elementwise(name="s", inputs=(*names, constant.name), outputs=("y",), kind="sum")
    tensors = {name: Tensor(name, (1, 2)) for name in (*names, "y")}
    network = Network("n", (layer,), tensors, {constant.name: constant}, names, ("y",))
    return Container(Model(network), Metadata())


def test_few_values_are_shown_and_long_lists_cut() -> None:
    values = np.array([[1.5, np.inf]], np.float32)
    page = network_facts("m", joined(100, Constant("c", (1, 2), values)))
    (constant,) = page["constants"]
    assert constant["values"] == ["1.5", "inf"]
    layer = page["layers"][-1]
    assert (len(layer["inputs"]), layer["left_out"]) == (64, {"inputs": 37})


def test_long_texts_are_cut() -> None:
    container = joined(1, Constant("c", (1, 2), np.zeros((1, 2), np.float32)))
    network = container.model.network
    fused = network.layers[0].replace(fused=("n" * 1000,))
    attributes = network_facts("m", in_floats(network.with_layers([fused])))["layers"][-1][
        "attributes"
    ]
    assert attributes["fused"] == "n" * 400 + "… (1000 characters, cut here)"
