"""Processes that hexsim starts import nothing from the current folder."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, save

from hexsim import isolation
from hexsim.frameworks.exporters import Exporter
from tests.conftest import make_model
from tests.imports import CHECKOUT, imports

NAMES = (
    "requests", "numpy", "sitecustomize", "usercustomize", "hexsim", "json", "runpy",
    "multiprocessing", "models", "distributed", "tf2onnx", "tensorflow", "torch",
)  # fmt: skip


@pytest.fixture
def poisoned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with modules that tell on whoever imports them."""
    folder = tmp_path / "shared"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(
            f"open({str(tmp_path)!r} + '/{name}.imported', 'w').close()\nraise SystemExit(7)\n"
        )
    monkeypatch.chdir(folder)
    return folder


def imported(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.glob("*.imported"))


def test_the_folder_would_be_seen(poisoned: Path) -> None:
    assert subprocess.run([sys.executable, "-c", "import requests"], check=False).returncode == 7
    assert "requests.imported" in imported(poisoned)


@pytest.mark.parametrize("entry", ["", ".", "current"])
def test_a_module_and_a_file_see_nothing_of_it(
    poisoned: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """A stand-in for tf2onnx lies where this process looks; it needs requests, as that does."""
    library = poisoned.parent / "library"
    (library / "standin").mkdir(parents=True)
    (library / "requests.py").write_text("said = 'the right one'\n")
    (library / "standin" / "__init__.py").touch()
    (library / "standin" / "convert.py").write_text(
        "import os, sys, json, numpy, requests\n"
        "print(requests.said, os.listdir() , sys.argv[1:], __name__)\n"
    )
    monkeypatch.setattr(sys, "path", [str(poisoned) if entry == "current" else entry, *sys.path])
    sys.path.insert(1, str(library))
    monkeypatch.setenv("PYTHONPATH", str(poisoned))
    for words in (("-m", "standin.convert"), (str(library / "standin" / "convert.py"),)):
        exporter = Exporter("a stand-in", "tflite", (), words)
        empty = poisoned.parent / "empty"
        empty.mkdir(exist_ok=True)
        said = exporter._last_line(Path("m.tflite"), [*words, "a", "b"], str(empty))
        assert said == "the right one [] ['a', 'b'] __main__"
    assert imported(poisoned) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "sweep space.toml --workers 2",
        "validate m.onnx --chip sd835 --input-list list.txt --workers 2",
        "bench m.onnx --chip sd835 --runtime dsp --timing-only --uncertainty joint --workers 2",
    ],
)
def test_no_command_with_workers_imports_from_it(poisoned: Path, line: str) -> None:
    weights = {"w": np.random.default_rng(0).standard_normal((8, 3, 3, 3))}
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])]
    save(make_model(nodes, {"x": [1, 3, 8, 8]}, ["y"], weights), poisoned / "m.onnx")
    np.ones((1, 8, 8, 3), np.float32).tofile(poisoned / "x.raw")
    (poisoned / "list.txt").write_text("x.raw\n")
    (poisoned / "space.toml").write_text('networks = ["m.onnx"]\nchips = ["sd835", "sd855"]\n')
    program = f"import sys; sys.path.append({str(CHECKOUT)!r}); import hexsim.cli as c; c.main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *line.split()],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert imported(poisoned) == []


def test_where_hexsim_lies_is_searched_wherever_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [str(tmp_path), "relative", "", os.path.abspath(os.sep)]
    monkeypatch.setattr(sys, "path", kept)
    monkeypatch.chdir(tmp_path)
    assert isolation.search_path() == [os.sep, str(CHECKOUT)]
    monkeypatch.chdir(CHECKOUT)
    monkeypatch.setattr(sys, "path", [str(CHECKOUT), str(tmp_path)])
    assert isolation.search_path() == [str(CHECKOUT), str(tmp_path)]


def test_nothing_else_starts_a_process() -> None:
    """Whoever starts one asks `hexsim.isolation` for the command line.

    The disassembler and the emulator of `hexsim.hvx.code` are no programs of Python, and import
    nothing.
    """
    files = {
        imported.file.stem
        for imported in imports("hexsim")
        if imported.root in ("subprocess", "pty")
    }
    assert files == {"exporters", "processes", "crash_proof", "disassembly", "emulation"}
    pooled = {
        imported.file.stem
        for imported in imports("hexsim")
        if imported.name.endswith(
            ("multiprocessing.Process", "multiprocessing.Pool", ".ProcessPoolExecutor")
        )
    }
    assert not pooled


_SETTINGS = {
    "matplotlibrc": ("matplotlib", "figure.facecolor: red\n\xff\n"),
    ".numba_config.yaml": ("numba", "disable_jit: 1\n"),
}
_IMPORTS = {
    "matplotlib": "from hexsim.reports.picture import load_matplotlib\n"
    "print(load_matplotlib().rcParams['figure.facecolor'] == 'white')",
    "numba": "import hexsim.int8.machine_code, numba\n"
    "numba.core.config.reload_config()\nprint(not numba.core.config.DISABLE_JIT)",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _SETTINGS)
def test_libraries_obey_no_file_of_the_current_folder(name: str, tmp_path: Path) -> None:
    library, text = _SETTINGS[name]
    pytest.importorskip(library)
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    words = [sys.executable, "-c", f"import os\n{_IMPORTS[library]}\nprint(os.getcwd())"]
    variables = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    said = subprocess.run(
        words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert (said.stdout, said.stderr) == (f"True\n{tmp_path}\n", "")
