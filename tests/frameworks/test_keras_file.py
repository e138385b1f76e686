"""A Keras file is checked as Keras will read it, and read in its safe mode.

Neither Keras nor h5py need be installed: stand-ins take their places.
"""

import contextlib
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.frameworks import _keras_file, tensorflow
from hexsim.frameworks.archives import HDF5
from hexsim.frameworks.exporters import Exporter
from tests.frameworks.test_archives import archive

DENSE = {"class_name": "Dense", "module": "keras.layers", "config": {"units": 3}}
LAMBDA = {"class_name": "Lambda", "config": {"function": ["4wEAAAA=", None, None]}}
GOOD = [
    DENSE,
    {"class_name": "Functional", "module": "keras.src.models.functional"},
    {"module": None},
]
BAD = [
    LAMBDA,
    {"class_name": "__lambda__"},
    {"class_name": "function", "module": "builtins", "config": "exec"},
    {"class_name": "TFSMLayer", "config": {"filepath": "elsewhere"}},
    {"class_name": "system", "module": "os"},
    {"class_name": "get_file", "module": "keras.utils"},
    {"class_name": "enable_unsafe_deserialization", "module": "keras.config"},
    {"class_name": "x", "module": "kerasx"},
    {"class_name": "StringLookup", "config": {"vocabulary": "/etc/passwd"}},
]


@pytest.mark.parametrize("part", GOOD)
def test_layers_are_no_code(part: dict[str, Any]) -> None:
    _keras_file.require_no_code({"config": {"layers": [part]}})


@pytest.mark.parametrize("part", BAD)
def test_parts_that_are_code_are_refused(part: dict[str, Any]) -> None:
    with pytest.raises(SystemExit, match=r"which is not (run|read)|which is none of layers"):
        _keras_file.require_no_code({"config": {"layers": [DENSE, {"inner": [part]}]}})


class Item:
    """A stand-in for an object of h5py; `links` are its entries."""

    def __init__(self, external: Any = None, is_virtual: bool = False, nbytes: int = 4) -> None:
        self.id = types.SimpleNamespace(addr=id(self))
        self.external, self.is_virtual, self.nbytes = external, is_virtual, nbytes
        self.links: dict[str, Any] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self.links)

    def __getitem__(self, name: str) -> Any:
        return self if name == "/" else self.links[name]

    def get(self, name: str, getlink: bool) -> Any:
        return Hard() if isinstance(self.links[name], Item) else self.links[name]


class Group(Item):
    """A stand-in for a group, and for the file itself, with its description."""

    attrs: dict[str, str]


class Hard:
    """A stand-in for a hard link."""


WEIGHTS: dict[str, Any] = {
    "external": Item(external=[("secret.bin", 0, 4)]),
    "virtual": Item(is_virtual=True),
    "link": object(),
    "large": Item(nbytes=1 << 40),
    "good": Item(),
}


@pytest.fixture
def keras(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Stand-ins for Keras and h5py, and what is asked of Keras."""
    asked: list[Any] = []

    class Model:
        def export(self, folder: str, verbose: bool) -> None:
            raise SystemExit("done")

    def load_model(source: str, **named: Any) -> Model:
        asked.append((source, named))
        return Model()

    @contextlib.contextmanager
    def opened(source: Any, mode: str) -> Iterator[Any]:
        root, inner = Group(), Group()
        inner.links = {"again": root}
        root.links = {"inner": inner}
        if isinstance(source, str):
            root.attrs = {"model_config": Path(f"{source}.json").read_text()}
        else:
            name = source.getvalue().decode()
            inner.links[name] = WEIGHTS[name]
        yield root

    module: Any = types.ModuleType("keras")
    module.models = types.SimpleNamespace(load_model=load_model)
    h5py: Any = types.ModuleType("h5py")
    h5py.File, h5py.Group, h5py.Dataset, h5py.HardLink = opened, Group, Item, Hard
    h5py.h5o = types.SimpleNamespace(get_info=lambda identity: identity)
    monkeypatch.setitem(sys.modules, "keras", module)
    monkeypatch.setitem(sys.modules, "h5py", h5py)
    return asked


@pytest.mark.parametrize("ending", ["h5", "keras"])
def test_the_check_reads_what_keras_reads(ending: str, tmp_path: Path, keras: list[Any]) -> None:
    """HDF5 with an archive behind it that has another, harmless description."""
    config = {"h5": LAMBDA, "keras": DENSE}
    source = tmp_path / f"m.{ending}"
    source.write_bytes(HDF5 + bytes(600) + archive(("config.json", json.dumps(DENSE).encode())))
    Path(f"{source}.json").write_text(json.dumps(config["h5"]))
    if ending == "h5":
        with pytest.raises(SystemExit, match="parts of type Lambda are Python code"):
            _keras_file.main(str(source), "13", "m.onnx")
        assert not keras
    else:
        with pytest.raises(SystemExit, match="done"):
            _keras_file.main(str(source), "13", "m.onnx")
        assert keras == [(str(source), {"compile": False, "safe_mode": True})]


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_of_other_files_are_not_read(kind: str, tmp_path: Path, keras: list[Any]) -> None:
    source = tmp_path / "m.keras"
    entries = (("config.json", b"{}"), ("model.weights.h5", kind.encode()))
    source.write_bytes(archive(*entries))
    words = "done" if kind == "good" else "other files|another file|too many bytes"
    with pytest.raises(SystemExit, match=words):
        _keras_file.main(str(source), "13", "m.onnx")
    assert bool(keras) == (kind == "good")


@pytest.mark.parametrize(
    ("name", "content", "ending"),
    [
        ("m.keras", HDF5 + bytes(99), ".h5"),
        ("m.onnx", bytes(512) + HDF5 + bytes(99), ".h5"),
        ("m.h5", archive(("config.json", b"{}"), ("model.weights.h5", b"")), ".keras"),
    ],
)
def test_keras_is_told_the_format_by_the_ending(
    name: str, content: bytes, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, bytes]] = []

    def run(self: Exporter, path: Path, words: list[str], target: str) -> None:
        said.append((Path(words[0]).suffix, Path(words[0]).read_bytes()))
        raise HexsimError("enough")

    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    monkeypatch.setattr(Exporter, "require", lambda *given: None)
    monkeypatch.setattr(Exporter, "run", run)
    with pytest.raises(HexsimError, match="enough"):
        load(name)
    assert said == [(ending, content)]


def test_two_formats_at_once_are_refused_before_keras_starts(tmp_path: Path) -> None:
    (tmp_path / "m.h5").write_bytes(HDF5 + bytes(600) + archive(("config.json", b"{}")))
    with pytest.raises(HexsimError, match="is HDF5 and a ZIP archive at once"):
        load(tmp_path / "m.h5")


@pytest.mark.parametrize(
    ("installed", "words"),
    [
        ("3.11.3", r"keras 3.11.3 may run what it holds; pip install 'keras>=3.12'"),
        ("3.9", "3.9 may"),
    ],
)
def test_versions_that_run_what_a_file_holds_are_refused(
    installed: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hexsim.frameworks.exporters.find_spec", lambda name: True)
    monkeypatch.setattr("hexsim.frameworks.exporters.version", lambda name: installed)
    with pytest.raises(HexsimError, match=words):
        tensorflow.KERAS.require(Path("m.h5"), "a Keras model")
    for fine in ("3.12", "3.12.0rc1", "3.13.1", "4.0", "10.1+cpu"):
        monkeypatch.setattr("hexsim.frameworks.exporters.version", lambda name, fine=fine: fine)
        tensorflow.KERAS.require(Path("m.h5"), "a Keras model")
