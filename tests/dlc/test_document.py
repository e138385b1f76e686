"""The JSON text of a network is small, readable and strict."""

import json

import pytest

from hexsim.dlc.document import DlcDocument, StoredArray
from hexsim.quantization.model import Model
from tests.dlc.made import small_network, with_encodings

ARRAY = StoredArray("w", (2, 3), "float32", "uint16", "0" * 64)


def test_text_names_layers_and_arrays() -> None:
    tree = json.loads(DlcDocument.of(Model(small_network()), (ARRAY,)).to_bytes())
    assert [layer["class"] for layer in tree["layers"]] == [
        "Convolution",
        "Convolution",
        "Pooling",
        "FullyConnected",
    ]
    assert tree["arrays"][0]["shape"] == [2, 3]
    assert tree["encodings"] is None


@pytest.mark.parametrize("axis", [False, True])
def test_comes_back(axis: bool) -> None:
    document = DlcDocument.of(with_encodings(small_network(), axis), (ARRAY,))
    assert document.encodings is not None
    assert DlcDocument.from_bytes(document.to_bytes()) == document


def test_size_is_that_of_the_stored_type() -> None:
    assert ARRAY.bytes == 12
    assert ARRAY.stored_dtype.str == "<u2"
