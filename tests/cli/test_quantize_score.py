"""`hexsim quantize` ends with the score of the answers on inputs that did not calibrate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from hexsim import dlc
from hexsim.quantization.model import Model
from tests.cli.conftest import Done
from tests.dlc.made import small_network


def test_the_others_judge_as_validate_does(command: Callable[[str], Done], tmp_path: Path) -> None:
    dlc.write(tmp_path / "m.dlc", Model(small_network()))
    names = [f"{n}.raw" for n in range(4)]
    for n, name in enumerate(names):
        values = np.random.default_rng(n).normal(0, 1 + n, 8 * 8 * 3).astype("<f4")
        (tmp_path / name).write_bytes(values.tobytes())
    (tmp_path / "list.txt").write_text("\n".join(names))
    done = command("quantize m.dlc --input-list list.txt --part calibrate -o q.dlc --chip sd855")
    (line,) = (line for line in done.out.splitlines() if line.startswith("SQNR of the outputs"))
    score, _, where = line.partition(" on ")
    assert where == "dsp of sd855, over the 2nd, 4th, ... of inputs of 'list.txt'"
    judged = command("validate q.dlc --float m.dlc --chip sd855 --input-list list.txt --part judge")
    assert score in judged.out.splitlines()
    whole = command("quantize m.dlc --input-list list.txt -o w.dlc --chip sd855")
    assert "all these inputs calibrated, so none judges" in whole.out
    wide = command(
        "quantize m.dlc --input-list list.txt --part calibrate --act-bitwidth 16 -o wide.dlc "
        "--chip sd855"
    )
    assert (wide.code, "no SQNR of the outputs on dsp of sd855: " in wide.out) == (0, True)
    assert "SQNR" not in command("quantize m.dlc --seeded-inputs -o s.dlc").out
