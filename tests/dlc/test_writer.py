"""Files appear whole or not at all, and are the same bytes whenever the model is the same."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from hexsim import dlc
from hexsim.dlc import Metadata
from hexsim.errors import HexsimError
from hexsim.graph.ir import Constant
from hexsim.quantization.model import Model
from tests.dlc.made import assert_same, models, small_network, with_encodings
from tests.thorough import examples


@examples(25)
@given(models())
def test_equal_models_give_equal_bytes(
    tmp_path_factory: pytest.TempPathFactory, model: Model
) -> None:
    first, second, third = (tmp_path_factory.mktemp("same") / "m.dlc" for _ in range(3))
    dlc.write(first, model)
    dlc.write(second, model)
    dlc.write(third, dlc.read(first).model)
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()


def test_codes_take_a_quarter_of_the_room(tmp_path: Path) -> None:
    network = small_network()
    quantized = with_encodings(network)
    dlc.write(tmp_path / "float.dlc", Model(network))
    dlc.write(tmp_path / "codes.dlc", quantized)
    saved = sum(3 * network.constants[name].elements for name in quantized.parameters)
    sizes = []
    for name in ("float.dlc", "codes.dlc"):
        stored = dlc.archive.open_archive(tmp_path / name)
        sizes.append(stored.params_end - stored.params_start)
    assert sizes[0] == 4 * network.total_parameters
    assert sizes[0] - sizes[1] == saved > 0


def test_halves_take_half_the_room(tmp_path: Path) -> None:
    network, sizes = small_network(), []
    for halves in (False, True):
        model = with_encodings(network, halves=halves)
        dlc.write(tmp_path / "m.dlc", model)
        stored = dlc.archive.open_archive(tmp_path / "m.dlc")
        sizes.append(stored.params_end - stored.params_start)
        assert sizes[-1] == model.weight_bytes
    (name,) = model.floats
    assert sizes[0] - sizes[1] == 2 * network.constants[name].elements


@pytest.mark.parametrize(
    ("axis", "packs", "size"),
    [
        (False, False, 27 * 4 + 24 * 10),
        (False, True, (27 * 4 + 24 * 10) // 2),
        (True, True, 14 * 4 + 12 * 10),
    ],
)
def test_four_bit_codes_share_bytes_if_packed(
    tmp_path: Path, axis: bool, packs: bool, size: int
) -> None:
    network = small_network()
    model = with_encodings(network, axis, bits=4, packs=packs)
    dlc.write(tmp_path / "m.dlc", model)
    stored = dlc.archive.open_archive(tmp_path / "m.dlc")
    floats = [c for c in network.constants.values() if c.name not in model.parameters]
    expected = size + sum(4 * constant.elements for constant in floats)
    assert stored.params_end - stored.params_start == expected == model.weight_bytes
    read = dlc.read(tmp_path / "m.dlc").model
    assert_same(model, read)
    assert read.quantized
    assert read.packs_weights == packs


def test_a_file_can_replace_the_one_it_is_made_from(tmp_path: Path) -> None:
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()))
    dlc.write(path, dlc.read(path).model, Metadata(model_version="2"))
    assert dlc.read(path).metadata.model_version == "2"
    assert_same(Model(small_network()), dlc.read(path).model)


def test_a_weight_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()))
    before = path.read_bytes()
    network = small_network()
    name = max(network.weights)
    bad = Constant(name, network.shape(name), np.full(network.shape(name), np.nan, np.float32))
    with pytest.raises(HexsimError, match=f"'{name}' holds NaN"):
        dlc.write(path, Model(network.with_layers(network.layers, constants=[bad])))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"cannot write .*no such folder"):
        dlc.write(tmp_path / "none" / "m.dlc", Model(small_network()))


def test_two_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "m.dlc"
    candidates = (Model(small_network()), with_encodings(small_network()))
    start = threading.Barrier(2)

    def write(model: Model) -> None:
        start.wait()
        for _ in range(20):
            dlc.write(path, model)

    threads = [threading.Thread(target=write, args=(model,)) for model in candidates]
    for thread in threads:
        thread.start()
    seen = 0
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            dlc.read(path)
            seen += 1
    for thread in threads:
        thread.join()
    assert seen > 0
    last = dlc.read(path).model
    assert_same(candidates[last.quantized], last)
    assert list(tmp_path.iterdir()) == [path]
