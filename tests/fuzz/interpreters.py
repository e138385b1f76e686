"""Workers that are started amid hostile variables and modules: the same bytes, and nothing run.

A case is told by its number alone.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import helper, save

from tests.conftest import make_model
from tests.imports import CHECKOUT

COMMANDS = (
    "validate m.onnx --chip sd835 --input-list list.txt --workers 2 --json answer.json",
    "bench m.onnx --chip sd835 --runtime dsp --timing-only --uncertainty joint --draws 4 "
    "--workers 2 --json answer.json",
)
DECOYS = (
    *("sitecustomize", "usercustomize", "json", "pickle", "runpy", "site", "os", "encodings"),
    *("multiprocessing", "numpy", "numba", "simpy", "onnx", "hexsim", "models", "struct", "typing"),
)
VARIABLES = {
    "PYTHONPATH": ("DECOYS", ".", ""),
    "PYTHONHOME": ("DECOYS", "/nowhere"),
    "PYTHONSTARTUP": ("DECOYS/json.py",),
    "PYTHONPLATLIBDIR": ("nowhere",),
    "PYTHONWARNINGS": ("error", "always", "::"),
    "PYTHONOPTIMIZE": ("2",),
    "PYTHONINSPECT": ("1",),
    "PYTHONVERBOSE": ("1",),
    "PYTHONDEBUG": ("1",),
    "PYTHONIOENCODING": ("utf-16", "ascii", "none-such"),
    "PYTHONUTF8": ("0", "1"),
    "PYTHONHASHSEED": ("0", "1", "random"),
    "PYTHONBREAKPOINT": ("json.loads",),
    "PYTHONTRACEMALLOC": ("1",),
    "PYTHONCASEOK": ("1",),
    "LC_ALL": ("C", "POSIX", "xx_XX.latin-1"),
}
"""Values that a case chooses from; DECOYS stands for the folder of the modules."""
_START = """
import json, os, sys
sys.path.append({checkout!r})
import hexsim.cli
os.environ.update(json.loads({variables!r}))
hexsim.cli.main()
"""


def write_files(folder: Path) -> None:
    """m.onnx and the inputs of list.txt."""
    rng = np.random.default_rng(0)
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])]
    weights = {"w": rng.standard_normal((8, 3, 3, 3))}
    save(make_model(nodes, {"x": [1, 3, 8, 8]}, ["y"], weights), folder / "m.onnx")
    for index in range(2):
        rng.standard_normal((1, 8, 8, 3), np.float32).tofile(folder / f"{index}.raw")
    (folder / "list.txt").write_text("0.raw\n1.raw\n")


def answer(folder: Path, line: str, variables: dict[str, str]) -> tuple[int, str, bytes]:
    """Run a command whose workers start with these variables: its code, errors and file."""
    program = _START.format(checkout=str(CHECKOUT), variables=json.dumps(variables))
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, *line.split()],
        cwd=folder, check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    file = folder / "answer.json"
    return done.returncode, done.stderr, file.read_bytes() if file.exists() else b""


def judged(number: int, folder: Path) -> str:
    """Return nothing.

    Raises AssertionError if the answer of a case differs, or if one of its modules was run.
    """
    rng = random.Random(number)
    here, decoys = folder / f"case{number}", folder / f"decoys{number}"
    here.mkdir()
    decoys.mkdir()
    write_files(here)
    line = rng.choice(COMMANDS)
    expected = answer(here, line, {})
    for name in rng.sample(DECOYS, rng.randint(1, len(DECOYS))):
        text = f"open({str(folder)!r} + '/{number}.{name}.run', 'w').close()\nraise SystemExit(7)\n"
        for place in (here, decoys):
            _write_module(place, name, text, rng)
    names = rng.sample(sorted(VARIABLES), rng.randint(1, len(VARIABLES)))
    chosen = {name: rng.choice(VARIABLES[name]).replace("DECOYS", str(decoys)) for name in names}
    (here / "answer.json").unlink(missing_ok=True)
    answered = answer(here, line, chosen)
    run = sorted(path.name for path in folder.glob(f"{number}.*.run"))
    assert not run
    assert answered == expected, f"{line} with {chosen}"
    return ""


def _write_module(folder: Path, name: str, text: str, rng: random.Random) -> None:
    """Write a module as a file or as a package."""
    if rng.random() < 0.3:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(text)
    else:
        (folder / f"{name}.py").write_text(text)
