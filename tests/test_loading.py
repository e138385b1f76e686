"""A model is a file or a built-in name, and nothing is guessed."""

from pathlib import Path

import pytest

from hexsim import models
from hexsim.errors import HexsimError
from hexsim.loading import is_builtin, load


def test_a_name_loads_the_built_in_network() -> None:
    network = load("squeezenet1_1")
    assert network.name == "squeezenet1_1"
    assert network.shape(network.inputs[0]) == (1, 227, 227, 3)
    network.check()


def test_a_file_wins_over_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models.export("conv1x1_1to1", tmp_path / "alexnet")
    monkeypatch.chdir(tmp_path)
    assert not is_builtin("alexnet")
    assert load("alexnet").total_macs == 1


def test_unoptimised_keeps_every_node() -> None:
    plain, folded = load("mobilenet_v1", optimised=False), load("mobilenet_v1")
    assert len(plain.layers) > 2 * len(folded.layers)
    assert plain.total_macs == folded.total_macs


@pytest.mark.parametrize("name", ["models/none.onnx", "none.onnx"])
def test_missing_files_are_named(name: str) -> None:
    with pytest.raises(HexsimError, match=f"no such file: '{name}'"):
        load(name)
