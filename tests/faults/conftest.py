"""Commands that run in forks, and a folder of inputs for them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest

from hexsim import dlc
from hexsim.quantization.model import Model
from hexsim.quantization.quantizer import quantize
from tests.conftest import make_model
from tests.dlc.made import small_network
from tests.imports import CHECKOUT


class Ended(NamedTuple):
    code: int
    out: str
    err: str
    seconds: float


Run = Callable[..., Ended]


@pytest.fixture(scope="session", autouse=True)
def heard() -> None:
    """Children hear what these tests send, also where the tests run in the background of a shell.

    A shell ignores SIGINT for what it runs there, nohup ignores SIGHUP, and children inherit that.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="session")
def forks() -> Iterator[Callable[[dict[str, Any]], Ended]]:
    """A function that answers requests as `forked` states them."""
    path = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.forked"],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        requests, answers = process.stdin, process.stdout
        assert requests is not None
        assert answers is not None

        def ask(request: dict[str, Any]) -> Ended:
            requests.write(json.dumps(request) + "\n")
            requests.flush()
            return Ended(**json.loads(answers.readline()))

        yield ask
        requests.close()


@pytest.fixture
def run(forks: Callable[[dict[str, Any]], Ended], tmp_path: Path) -> Run:
    """A function that runs a command line in `tmp_path`, under the conditions of a request."""
    return lambda line, **conditions: forks(
        {"args": line.split(), "cwd": str(tmp_path), **conditions}
    )


def fill(folder: Path) -> None:
    """m.onnx, m.dlc, q.dlc and list.txt with two inputs for them; a measured row."""
    network = small_network()
    rng = np.random.default_rng(3)
    feeds = [{"in": rng.normal(0, n, (1, 8, 8, 3)).astype(np.float32)} for n in (1, 2)]
    for index, feed in enumerate(feeds):
        feed["in"].tofile(folder / f"{index}.raw")
    (folder / "list.txt").write_text("0.raw\n1.raw\n")
    dlc.write(folder / "m.dlc", Model(network))
    dlc.write(folder / "q.dlc", quantize(network, feeds))
    nodes = [onnx.helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])]
    weights = {"w": rng.normal(0, 1, (16, 3, 3, 3))}
    onnx.save(make_model(nodes, {"x": (1, 3, 8, 8)}, ["y"], weights), folder / "m.onnx")
    (folder / "rows.csv").write_text("model,runtime,latency_ms\nm.onnx,dsp,0.9\n")


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """The folder of the commands with these files."""
    fill(tmp_path)
    return tmp_path
