"""What a file may say of a user-defined layer and its attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hexsim
from hexsim import dlc
from hexsim.dlc.document import DlcDocument
from hexsim.dlc.trees import from_tree, to_tree
from hexsim.errors import HexsimError
from hexsim.layers._attribute import Attribute
from hexsim.layers.onnx_nodes import UserDefined
from hexsim.quantization.model import Model
from hexsim.udl import known, use_layers
from tests.own_layers import FILE, model


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_GIVEN", {})
    use_layers(FILE)


def layer() -> UserDefined:
    user_layer = hexsim.load(model()).network.layers[1]
    assert isinstance(user_layer, UserDefined)
    return user_layer


def test_a_file_holds_no_definition() -> None:
    tree: Any = to_tree(layer())
    assert "definition" not in tree
    assert from_tree(UserDefined, {k: v for k, v in tree.items() if k != "class"}) == layer()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"places": (1, 2)}, "its 1 inputs are at the places [1, 2]"),
        ({"places": (2**31 - 1,)}, "it has an input at the place 2147483647 of at most 65536"),
        ({"attributes": (Attribute("b", "float"),)}, "attribute 'b' has 0 values, not one"),
        ({"attributes": (Attribute("b", "array", dtype="O", shape=(1,), data=b"12345678"),)},
         "attribute 'b' holds elements of an unknown type"),
        ({"attributes": (Attribute("b", "array", dtype="no"),)}, "elements of an unknown type"),
        ({"attributes": (Attribute("b", "array", shape=(2**31 - 1,) * 9),)},
         "attribute 'b' does not hold the array that it says"),
    ],
)  # fmt: skip
def test_what_is_no_layer_is_refused(
    changes: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = hexsim.load(model()).network
    layers = [
        layer.replace(**changes) if layer.name == "plus" else layer for layer in network.layers
    ]
    forged = Model(network.with_layers(layers))
    with pytest.raises(HexsimError) as error:
        dlc.write(tmp_path / "m.dlc", forged)
    assert message in str(error.value)
    monkeypatch.setattr("hexsim.dlc.writer.check_model", lambda *anything: None)
    dlc.write(tmp_path / "m.dlc", forged)
    with pytest.raises(HexsimError) as error:
        dlc.read(tmp_path / "m.dlc")
    assert message in str(error.value)
    assert "'plus'" in str(error.value)


def test_attributes_are_shown_in_one_line() -> None:
    shown = [
        Attribute("i", "ints", ints=(1, 2)),
        Attribute("t", "text", texts=("a\n\x1b[2J",)),
        Attribute("a", "array", shape=(2,), data=np.zeros(2, "<f4").tobytes()),
    ]
    assert [*map(str, shown)] == ["i 1 2", r"t a\n\x1b[2J", "a float32 2"]


def test_the_document_names_the_file() -> None:
    document = DlcDocument.of(hexsim.load(model()), ())
    assert b'"source":"own_layers.py"' in document.to_bytes()
