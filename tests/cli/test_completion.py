"""A shell completes commands, options, and names of what is built in."""

import os
import subprocess
import sys

import pytest

from tests.imports import CHECKOUT


def completed(line: str) -> list[str]:
    """What bash offers for the last word of a line."""
    asked = {
        "_HEXSIM_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    path = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['hexsim']; import hexsim.__main__"],
        capture_output=True,
        text=True,
        env={**os.environ, **asked, "PYTHONPATH": path},
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("hexsim thr", ["throughput"]),
        ("hexsim bench --chip sd835 --idle", ["--idle-ms"]),
        ("hexsim profile squ", ["squeezenet1_1"]),
        ("hexsim profile m.onnx --chip sd85", ["sd855"]),
        (
            "hexsim profile --chip sd835 m.onnx --stack snpe",
            ["snpe-1.23", "snpe-1.30", "snpe-1.63"],
        ),
        ("hexsim bench --chip sd835 --runtime dsp,gpu_", ["dsp,gpu_fp16"]),
    ],
)
def test_names(line: str, offered: list[str]) -> None:
    assert completed(line) == offered
