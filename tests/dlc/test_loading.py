"""A model is a file or a built-in name, and nothing is guessed."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hexsim import dlc, models
from hexsim.dlc import Metadata
from hexsim.dlc.loading import is_builtin, load, load_container
from hexsim.errors import HexsimError
from hexsim.quantization.model import Model
from tests.dlc.made import small_network, with_encodings


def test_a_name_loads_the_built_in_network() -> None:
    network = load("squeezenet1_1").network
    assert network.name == "squeezenet1_1"
    assert network.shape(network.inputs[0]) == (1, 227, 227, 3)
    network.check()


def test_a_file_wins_over_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models.export("conv1x1_1to1", tmp_path / "alexnet")
    monkeypatch.chdir(tmp_path)
    assert not is_builtin("alexnet")
    assert load("alexnet").network.total_macs == 1


def test_unoptimized_keeps_every_node() -> None:
    plain = load("mobilenet_v1", optimized=False).network
    folded = load("mobilenet_v1").network
    assert len(plain.layers) > 2 * len(folded.layers)
    assert plain.total_macs == folded.total_macs


@pytest.mark.parametrize("name", ["models/none.onnx", "none.onnx"])
def test_missing_files_are_named(name: str) -> None:
    with pytest.raises(HexsimError, match=f"no such file: '{name}'"):
        load(name)


def test_a_dlc_file_gives_what_it_holds(tmp_path: Path) -> None:
    dlc.write(tmp_path / "f.dlc", Model(small_network()), Metadata(model_version="3"))
    dlc.write(tmp_path / "q.DLC", with_encodings(small_network()))
    assert not load(tmp_path / "f.dlc").quantized
    assert load(str(tmp_path / "q.DLC")).quantized
    assert load_container(tmp_path / "f.dlc").metadata.model_version == "3"
    assert load_container("conv1x1_1to1").metadata == Metadata()


def test_a_dlc_file_is_read_without_onnx(tmp_path: Path) -> None:
    dlc.write(tmp_path / "f.dlc", Model(small_network()))
    code = "import sys, hexsim.dlc.loading as l; l.load(sys.argv[1]);print('onnx' in sys.modules)"
    words = [sys.executable, "-c", code, str(tmp_path / "f.dlc")]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "False\n"


def test_input_dims_resize_a_dlc_file_and_keep_its_codes(tmp_path: Path) -> None:
    model = with_encodings(small_network())
    dlc.write(tmp_path / "q.dlc", model)
    resized = load(tmp_path / "q.dlc", input_dims={"in": (2, 3, 8, 8)})
    assert resized.quantized
    resized.network.check()
    assert resized.network.tensors[model.network.outputs[0]].shape == (2, 10)
    for name in model.parameters:
        np.testing.assert_array_equal(resized.codes(name), model.codes(name))
