"""What was written comes back, when it is needed; what was changed does not."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from hexsim import dlc
from hexsim.dlc import Metadata
from hexsim.dlc.archive import METADATA, MODEL, create_archive, open_archive
from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant, Network, Tensor
from hexsim.layers import Elementwise, Opaque
from hexsim.quantization.encodings import SMALLEST_STEP, Encoding
from hexsim.quantization.model import Model
from tests.dlc.made import assert_same, models, small_network, with_encodings
from tests.fuzz.containers import opened, sealed
from tests.thorough import examples


@examples(40)
@given(models(), st.builds(Metadata, st.just("7"), st.just("convert x=y")))
def test_comes_back(
    tmp_path_factory: pytest.TempPathFactory, model: Model, metadata: Metadata
) -> None:
    path = tmp_path_factory.mktemp("back") / "m.dlc"
    dlc.write(path, model, metadata)
    read = dlc.read(path)
    assert read.metadata == metadata
    assert_same(model, read.model)
    read.model.network.check()


def test_constants_of_every_type_come_back(tmp_path: Path) -> None:
    arrays = {
        "i": np.array([[-(2**40), 3]], np.int64),
        "b": np.array([True, False]),
        "h": np.array([1.5, -2.0], np.float16),
        "scalar": np.array(2.5, np.float32),
        "empty": np.zeros((0, 4), np.float32),
        "big_endian": np.arange(3, dtype=">f4"),
    }
    constants = {
        n: Constant(n, a.shape, a, a.dtype.newbyteorder("=").name) for n, a in arrays.items()
    }
    node = helper.make_node("Scan", ["x", *arrays], ["y"]).SerializeToString()
    inputs = ("x", *arrays)
    layer = Opaque(
        name="o", inputs=inputs, outputs=("y",), op_type="Scan", node=node, shapes=((1,),)
    )
    tensors = {"x": Tensor("x", (1,)), "y": Tensor("y", (1,), dtype="int64")}
    network = Network("types", (layer,), tensors, constants, ("x",), ("y",))
    dlc.write(tmp_path / "m.dlc", Model(network))
    assert_same(Model(network), dlc.read(tmp_path / "m.dlc").model)


def test_a_constant_operand_is_kept_as_codes(tmp_path: Path) -> None:
    value = np.linspace(-1, 1, 5, dtype=np.float32)
    layer = Elementwise(name="add", inputs=("x", "c"), outputs=("y",), kind="sum")
    network = Network(
        "operand",
        (layer,),
        {"x": Tensor("x", (1, 5)), "y": Tensor("y", (1, 5))},
        {"c": Constant("c", (5,), value)},
        ("x",),
        ("y",),
    )
    model = Model(network, dict.fromkeys("xyc", Encoding.from_range(-1, 1)), quantized=True)
    dlc.write(tmp_path / "m.dlc", model)
    read = dlc.read(tmp_path / "m.dlc").model
    assert_same(model, read)
    assert not np.array_equal(read.network.constants["c"].value(), value)


def test_codes_are_those_of_the_file_even_with_the_smallest_steps(tmp_path: Path) -> None:
    network = small_network()
    name = network.layers[0].parameters[0]
    tiny = Encoding(8, 0.0, 255 * SMALLEST_STEP, SMALLEST_STEP, 0)
    codes = np.arange(network.constants[name].elements).reshape(network.shape(name)) % 256
    stored = {name: Constant(name, codes.shape, codes, "uint8")}
    dlc.write(tmp_path / "m.dlc", Model(network, {}, {name: tiny}, stored, quantized=True))
    read = dlc.read(tmp_path / "m.dlc").model
    assert read.quantized
    np.testing.assert_array_equal(read.codes(name), codes)


def test_shapes_are_known_before_a_weight_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()))
    archive = open_archive(path)
    with path.open("r+b") as file:
        file.seek(archive.params_start)
        file.write(bytes(archive.params_end - archive.params_start))
    network = dlc.read(path).model.network
    network.check()
    assert network.total_parameters == small_network().total_parameters
    name = network.layers[0].parameters[0]
    with pytest.raises(HexsimError, match=f"weight tensor '{name}'.*not what was written"):
        network.constants[name].value()


@pytest.mark.parametrize("quantized", [False, True])
def test_every_altered_weight_is_refused(tmp_path: Path, quantized: bool) -> None:
    path = tmp_path / "m.dlc"
    network = small_network()
    dlc.write(path, with_encodings(network) if quantized else Model(network))
    data, archive = path.read_bytes(), open_archive(path)
    for at in range(archive.params_start, archive.params_end, 97):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        model = dlc.read(path).model
        refused = []
        for name, constant in model.network.constants.items():
            try:
                constant.value()
            except HexsimError as error:
                refused.append((name, str(error)))
        assert len(refused) == 1
        assert f"weight tensor '{refused[0][0]}'" in refused[0][1]
        if model.quantized and model.encoding(refused[0][0]):
            with pytest.raises(HexsimError, match="not what was written"):
                model.codes(refused[0][0])


@pytest.mark.parametrize(
    "name", ["=1+1", "f4,f4", "(2,)f4", "O", "<f4", "int37", "M8[s]", "", "str"]
)
@pytest.mark.parametrize("field", ["dtype", "stored"])
def test_element_types_are_known_by_their_names_alone(
    tmp_path: Path, name: str, field: str
) -> None:
    """numpy takes some of these texts, and raises errors of many kinds for the rest."""
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()))
    parts = opened(path)
    parts.model["arrays"][0][field] = name
    sealed(parts, path)
    with pytest.raises(HexsimError, match="elements of type"):
        dlc.read(path)


def test_a_file_replaced_after_reading_gives_no_wrong_weights(tmp_path: Path) -> None:
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()))
    network = dlc.read(path).model.network
    name = network.layers[0].parameters[0]
    dlc.write(path, with_encodings(small_network()))
    with pytest.raises(HexsimError, match="replaced"):
        network.constants[name].value()
    path.unlink()
    with pytest.raises(HexsimError, match=f"cannot read weight tensor '{name}'"):
        network.constants[name].value()


def test_weights_are_found_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    dlc.write("m.dlc", Model(small_network()))
    read = dlc.read("m.dlc").model
    os.chdir("/")
    assert_same(Model(small_network()), read)


@pytest.mark.parametrize(
    ("model", "metadata"),
    [
        (b"{", b""),
        (b"[]", b""),
        (b'{"name": "x"}', b""),
        (b"\xff", b""),
        (None, b"colour=red\n"),
        (None, b"\xff"),
    ],
)
def test_contents_of_another_version_are_one_sentence(
    tmp_path: Path, model: bytes | None, metadata: bytes
) -> None:
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()))
    archive, data = open_archive(path), path.read_bytes()
    with path.open("w+b") as file, create_archive(file) as writer:
        with writer.params(archive.params_end - archive.params_start) as stream:
            stream.write(data[archive.params_start : archive.params_end])
        writer.add(MODEL, archive.model if model is None else model)
        writer.add(METADATA, metadata)
    with pytest.raises(HexsimError, match="another version of hexsim") as caught:
        dlc.read(path)
    assert "\n" not in str(caught.value)


def test_a_network_of_very_many_inputs_is_refused_before_it_is_made(tmp_path: Path) -> None:
    dlc.write(tmp_path / "m.dlc", Model(small_network()))
    parts = opened(tmp_path / "m.dlc")
    parts.model["inputs"] = [f"in{number}" for number in range(10_001)]
    sealed(parts, tmp_path / "m.dlc")
    words = "entry 'model' asks for 10002, and the budget is 10000 inputs and outputs"
    with pytest.raises(HexsimError, match=words):
        dlc.read(tmp_path / "m.dlc")
