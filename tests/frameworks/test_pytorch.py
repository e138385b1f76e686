"""An exported program of PyTorch is read only if it is data, and then with tensors alone unpickled.

PyTorch is not installed here: files are made by hand, and a stand-in takes its place.
"""

import collections
import io
import json
import os
import pickle
import sys
import types
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.frameworks import _torch_program
from hexsim.frameworks.pytorch import require_no_code
from tests.frameworks.test_archives import archive

TENSORS = b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01ctorch._utils\n_rebuild_tensor_v2\n0."
"""A pickle as torch.save writes it: a protocol, two globals, a call."""


class Evil:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, ("touch ran",)


def saved(data: bytes) -> bytes:
    """What torch.save makes of a pickle."""
    return archive(("model/data.pkl", data), ("model/data/0", bytes(8)))


def node(**parts: Any) -> bytes:
    made = {"target": "torch.ops.aten.relu.default", "inputs": [], "outputs": [], **parts}
    return json.dumps({"graph_module": {"graph": {"nodes": [made]}}}).encode()


def program(**entries: bytes) -> bytes:
    given = {
        "archive_format": b"pt2",
        "models/model.json": node(),
        "data/weights/weight_0": b"\x80\x04" + bytes(8),
        "data/weights/model_weights_config.json": b'{"config": {"w": {"use_pickle": false}}}',
        "data/sample_inputs/model.pt": saved(TENSORS),
        **entries,
    }
    return archive(*((f"m/{name}", data) for name, data in given.items()))


def _sized(text: str) -> bytes:
    return node(metadata={}, size={"as_expr": {"expr_str": text}})


GOOD = {
    "as written": program(),
    "sizes": program(**{"models/model.json": _sized("Max(1, 2*s0 + 3)//(s1 - 1)")}),
    "comparison": program(**{"models/model.json": _sized("Eq(s0, 4) & (s1 < 8)")}),
    "a number operator": program(**{"models/model.json": node(target="_operator.floordiv")}),
    "guards": program(**{"models/model.json": b'{"guards_code": ["L[\'x\'].size()[0] <= 8"]}'}),
    "old": program(**{"data/weights/model.pt": saved(TENSORS)}),
}
BAD = {
    "data/aotinductor/model/a.so' is code": {"data/aotinductor/model/a.so": b""},
    "model.wrapper.cpp' is code": {"data/aotinductor/model/model.wrapper.cpp": b""},
    "opaque_obj_0' is a pickled object": {"data/constants/opaque_obj_0": pickle.dumps(Evil())},
    "custom_obj_3' is a pickled object": {"data/constants/custom_obj_3": b""},
    "model.pt' is a Python pickle": {"data/sample_inputs/model.pt": pickle.dumps(Evil(), 2)},
    "is a Python pickle": {"data/weights/model.pt": b"cos\nsystem\n(S'touch ran'\ntR."},
    "calls 'posix system'": {"data/sample_inputs/model.pt": saved(pickle.dumps(Evil(), 2))},
    "did not write": {"data/weights/model.pt": saved(pickle.dumps(collections.OrderedDict(), 4))},
    "mentions pickled tensors": {
        "data/weights/model_weights_config.json": b'{"config": {"w": {"use_pickle": true}}}'
    },
    "calls 'torch.hub.load'": {"models/model.json": node(target="torch.hub.load")},
    "calls '_operator.methodcaller'": {"models/model.json": node(target="_operator.methodcaller")},
    "calls 'torch.ops.__class__.mro'": {
        "models/model.json": node(target="torch.ops.__class__.mro")
    },
    "calls 'torch.ops.load_library'": {"models/other": node(target="torch.ops.load_library")},
    "has the size '__import__": {
        "models/model.json": _sized("__import__('os').system('touch ran')")
    },
    "has the size 'exec(": {"models/model.json": _sized("exec('touch')")},
    "has the size 's0.func": {"models/model.json": _sized("s0.func")},
    "has the size '(lambda": {"models/model.json": _sized("(lambda: 1)()")},
    "has the size 'S\\('": {"models/model.json": _sized("S('os.system(1)')")},
    "has the size 'f": {"models/model.json": b'{"guards_code": ["f(1)"]}'},
    "serialized_state_dict.json' is no text in UTF-8": {
        "serialized_state_dict.json": pickle.dumps(Evil())
    },
}


@pytest.mark.parametrize("name", GOOD)
def test_what_torch_export_writes_is_data(name: str, tmp_path: Path) -> None:
    (tmp_path / "m.pt2").write_bytes(GOOD[name])
    require_no_code(tmp_path / "m.pt2")


@pytest.mark.parametrize("words", BAD)
def test_what_is_more_than_data_is_refused_before_anybody_reads_it(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "m.pt2"
    path.write_bytes(program(**BAD[words]))
    with pytest.raises(HexsimError, match="reading it might run code in it: ") as caught:
        load(path)
    assert words.replace("\\", "") in str(caught.value)
    assert not (tmp_path / "ran").exists()


def test_an_archive_read_otherwise_by_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.pt2").write_bytes(program() + archive(("m/archive_format", b"pt2")))
    with pytest.raises(HexsimError, match="programs may read the archive"):
        load(tmp_path / "m.pt2")


@pytest.mark.parametrize("knows", [True, False])
def test_pytorch_is_asked_to_unpickle_tensors_only(
    knows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[object] = []
    torch: Any = types.ModuleType("torch")

    class Exported:
        def save(self, target: str, external_data: bool) -> None:
            said.append(target)

    def unpickle(file: str, weights_only: bool = False) -> None:
        said.append(("torch.load", weights_only))

    def read(source: str) -> str:
        torch.load("a part", weights_only=False)
        return source

    def read_safely(source: str, weights_only: bool = False) -> str:
        said.append(("torch.export.load", weights_only))
        return read(source)

    torch.load = unpickle
    torch.export = types.SimpleNamespace(load=read_safely if knows else read)
    torch.onnx = types.SimpleNamespace(export=lambda *given, **named: Exported())
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0")
    _torch_program.main("m.pt2", "m.onnx")
    assert said == [("torch.export.load", True)] * knows + [("torch.load", True), "m.onnx"]
    assert os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] == "1"
    assert "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD" not in os.environ


def test_the_pickles_here_are_as_pytorch_reads_them() -> None:
    assert zipfile.is_zipfile(io.BytesIO(saved(TENSORS)))
