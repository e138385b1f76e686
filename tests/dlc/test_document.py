"""The JSON text of a network is small, readable and strict.

Metadata are key=value lines with the keys of the real container.
"""

import json
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.dlc.document import DlcDocument, Metadata, StoredArray
from hexsim.quantization.model import Model
from hexsim.texts.text import visible
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


def test_lines() -> None:
    text = Metadata(converter_command="hexsim convert a=b", converter_version="9.8").to_bytes()
    assert text.decode().splitlines() == [
        "model-version=N/A",
        "converter-command=hexsim convert a=b",
        "converter-version=9.8",
        "quantizer-command=N/A",
    ]


values = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))


@given(st.builds(Metadata, values, values, values, values))
def test_comes_back_as_it_is_shown(metadata: Metadata) -> None:
    texts = {field.name: visible(getattr(metadata, field.name)) for field in fields(Metadata)}
    assert Metadata.from_bytes(metadata.to_bytes()) == Metadata(**texts)


def test_a_line_break_cannot_add_a_key() -> None:
    metadata = Metadata(converter_command="a\nmodel-version=b")
    assert Metadata.from_bytes(metadata.to_bytes()).model_version == "N/A"


def test_a_name_that_is_no_text_can_be_written() -> None:
    assert b"m\\udcff.onnx" in Metadata(converter_command="m\udcff.onnx").to_bytes()


@pytest.mark.parametrize("line", [b"colour=red\n", b"no sign\n", b"\xff=1\n"])
def test_unreadable_lines_are_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Metadata.from_bytes(line)
