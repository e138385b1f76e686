"""The public face: names, lazy building, materialising, exporting."""

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

from hexsim import models
from hexsim.errors import HexsimError

CHECKOUT = Path(__file__).resolve().parents[2]


def test_the_networks_tested_are_those_of_this_checkout() -> None:
    assert Path(models.__file__).resolve().parent == CHECKOUT / "models"


def test_a_checkout_runs_that_is_not_installed() -> None:
    code = (
        "import runpy, sys\n"
        "finders = [f for f in sys.meta_path if 'editable' not in getattr(f, '__module__', '')]\n"
        "sys.meta_path[:] = finders\n"
        "sys.argv = ['hexsim', 'models', 'list']\n"
        "runpy.run_module('hexsim', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert "squeezenet1_1" in done.stdout, done.stderr


def test_names_are_the_files() -> None:
    folder = Path(models.__file__).parent
    files = {path.stem for path in folder.glob("[!_]*.py")} - {"conv1x1"}
    probes = {name for name in models.names() if name.startswith("conv1x1_")}
    assert set(models.names()) == files | probes
    assert probes


def test_unknown_name_is_reported_with_the_nearest() -> None:
    with pytest.raises(HexsimError, match=r"unknown network 'mobilnet_v2'.*mobilenet_v2"):
        models.build("mobilnet_v2")


def test_is_name_knows_probes_of_any_size() -> None:
    assert all(models.is_name(name) for name in (*models.names(), "conv1x1_5to6@7x8"))
    assert not any(models.is_name(name) for name in ("alexnet.onnx", "_builder", ""))


@pytest.mark.parametrize("name", ["_builder", "models", "", "../alexnet", "hexsim.errors"])
def test_only_networks_can_be_built(name: str) -> None:
    with pytest.raises(HexsimError, match="unknown network"):
        models.build(name)


def test_listing_networks_does_not_import_onnx() -> None:
    code = "import sys, hexsim.models as m; m.names(); sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_building_makes_no_large_weight() -> None:
    import hexsim.models.vgg16  # noqa: F401 (its code is not what is measured)

    tracemalloc.start()
    try:
        built = models.build("vgg16")
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 16e6  # the weights are 553 MB
    assert built.proto.ByteSize() < 100_000


@pytest.mark.parametrize("name", ["squeezenet1_1", "mobilenet_v2"])
def test_promised_weights_are_the_external_initializers(name: str) -> None:
    built = models.build(name)
    external = {
        tensor.name: tuple(tensor.dims)
        for tensor in built.proto.graph.initializer
        if tensor.data_location == onnx.TensorProto.EXTERNAL
    }
    assert set(built.weights) == set(external)
    for tensor, shape in external.items():
        value = built.weights[tensor]()
        assert (value.shape, value.dtype) == (shape, np.float32), tensor


@pytest.mark.parametrize("name", ["squeezenet1_1", "mobilenet_v1", "conv1x1_16to24@5x3"])
def test_materialised_model_is_valid_and_self_contained(name: str) -> None:
    built = models.build(name)
    proto = models.materialise(built)
    onnx.checker.check_model(proto, full_check=True)
    assert [opset.version for opset in proto.opset_import] == [13]
    arrays = {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}
    for tensor, make in built.weights.items():
        assert np.array_equal(arrays[tensor], make()), tensor


def test_weights_depend_on_their_names_only() -> None:
    """Made in another order, or twice, a weight is the same; another network's is not."""
    forward = models.build("squeezenet1_1")
    backward = models.build("squeezenet1_1")
    names = list(forward.weights)
    made = {name: forward.weights[name]() for name in names}
    for name in reversed(names):
        assert np.array_equal(made[name], backward.weights[name]())
        assert np.array_equal(made[name], forward.weights[name]())
    probes = [models.build(f"conv1x1_16to16@{size}").weights for size in ("1x1", "2x2")]
    assert not np.array_equal(*(probe["conv.weight"]() for probe in probes))


def test_export_writes_one_file_that_runs(tmp_path: Path) -> None:
    path = tmp_path / "probe.onnx"
    models.export("conv1x1_32to48@7x5", path)
    assert [file.name for file in tmp_path.iterdir()] == ["probe.onnx"]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"input": np.ones((1, 32, 7, 5), np.float32)})
    assert y.shape == (1, 48, 7, 5)


def test_export_to_a_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"cannot write '.*probe.onnx': no such folder"):
        models.export("conv1x1_1to1", tmp_path / "missing" / "probe.onnx")


def test_export_onto_a_folder_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(HexsimError, match=r"cannot write '.*taken'"):
        models.export("conv1x1_1to1", tmp_path / "taken")
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


def test_failed_export_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(built: models.BuiltModel) -> onnx.ModelProto:
        raise MemoryError

    path = tmp_path / "probe.onnx"
    path.write_bytes(b"old")
    monkeypatch.setattr("hexsim.models._built.materialise", fail)
    with pytest.raises(MemoryError):
        models.export("conv1x1_1to1", path)
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [
        ("probe.onnx", b"old")
    ]
