"""The table of the comparison, which takes several runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.int8_against_onnxruntime import SERIES_HEAD, Series, merged
from benchmarks.pages import ROOT, block, with_block


def _row(network: str, threads: int, theirs: float) -> str:
    seconds = {"ours": [1e-3, 1e-3], "onnxruntime": [theirs, theirs]}
    return Series(network, "tensor", threads, seconds).markdown()


def test_rows_of_an_earlier_run_stay_unless_measured_again() -> None:
    old = "\n".join((SERIES_HEAD, _row("alexnet", 1, 1e-3), _row("alexnet", 2, 1e-3)))
    again, new = _row("alexnet", 2, 2e-3), _row("resnet50", 1, 3e-3)
    assert merged(old, [SERIES_HEAD, again, new]).splitlines() == [
        *SERIES_HEAD.splitlines(),
        _row("alexnet", 1, 1e-3),
        again,
        new,
    ]


def test_an_empty_block_takes_the_table() -> None:
    page = "before\n<!-- rows: begin -->\n<!-- rows: end -->\nbehind\n"
    table = merged(block(page, "rows"), [SERIES_HEAD, _row("alexnet", 1, 1e-3)])
    assert block(with_block(page, "rows", table), "rows") == table + "\n"


def test_a_missing_engine_has_a_dash_and_a_ratio_is_theirs_over_ours() -> None:
    _, _, _, _, onnxruntime, openvino, ours, _ = map(str.strip, _row("alexnet", 1, 2e-3).split("|"))
    assert onnxruntime == "2.00 **2.00** 2.00"
    assert openvino == "-"
    assert ours == "1.00 **1.00** 1.00"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (None, "cannot be run: No such file or directory"),
        ("#!/bin/sh\nexit 1\n", "cannot import openvino; pip install openvino"),
    ],
)
def test_an_interpreter_that_cannot_serve_is_one_sentence(
    tmp_path: Path, lines: str | None, said: str
) -> None:
    named = tmp_path / "python"
    if lines is not None:
        named.write_text(lines)
        named.chmod(0o755)
    command = "benchmarks.int8_against_onnxruntime", "--processes", "--openvino", str(named)
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"--openvino {named} {said}")
    assert len(done.stderr.splitlines()) == 1
