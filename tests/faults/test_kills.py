"""A kill at any moment leaves finished files whole; the next run cleans what is left over.

Few kills here; the long mode (`-m slow`) has HEXSIM_KILLS of each command, 40 unless told.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Ended

COMMANDS = {
    "convert": "convert m.onnx -o out.dlc",
    "quantize": "quantize m.dlc --input-list list.txt -o out.dlc --encodings-report out.json",
    "run": "run --chip sd835 q.dlc --input-list list.txt -o out --trace out.trace",
    "validate": "validate --chip sd835 q.dlc --input-list list.txt --json out.json --csv out.csv",
    "decide --files": "decide m.dlc --files --chips sd835 --json out.json --csv out.csv",
    "decide": "decide m.dlc --chips sd855 --runtime dsp --modes default,axis --json out.json",
    "info": "info q.dlc --json out.json --csv out.csv",
    "profile": "profile --chip sd835 q.dlc --json out.json --csv out.csv --trace out.trace",
    "bench": "bench --chip sd835 "
    "--model q.dlc --runtime dsp --json out.json --csv out.csv --trace out.trace",
    "throughput": "throughput --chip sd835 q.dlc --inferences 3 --json out.json --trace out.trace",
    "roofline": "profile --chip sd835 q.dlc --picture out.svg --json out.json --csv out.csv",
    "partition": "partition --chip sd855 q.dlc --json out.json --graph out.svg",
    "kernel": "kernel conv --chip sd855 --shape 8x8x32:32:3x3 --json out.json",
    "export": "models export conv1x1_1to1 -o out.onnx",
    "calibrate": "calibrate rows.csv --chip sd835 -o out.toml --json out.json",
}
"""What every command that writes is killed with; all that begins with `out` is an output."""

OLD = b"a finished file of before"


def _outputs(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".hexsim-"))
    named = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in named.items() if name.startswith("out")}


def _left_over(folder: Path) -> list[Path]:
    return list(folder.rglob(".hexsim-*"))


def _killed(
    forks: Callable[[dict[str, Any]], Ended], folder: Path, name: str, kills: int
) -> dict[str, int]:
    """Kill a command so often; return how its outputs were found."""
    request = {"args": COMMANDS[name].split(), "cwd": str(folder)}
    request["env"] = {"TMPDIR": str(folder)}
    assert forks(request).code == 0, "kernels are compiled, and kept"
    ended = forks(request)
    assert ended.code == 0, ended.err
    new = _outputs(folder)
    assert len(new) >= COMMANDS[name].count("out")
    counts = {"before": 0, "after": 0, "between": 0, "left temporaries": 0}
    moments = random.Random(name)
    for number in range(kills):
        for output in new:
            (folder / output).write_bytes(OLD)
        slack = 1.2 if number % 5 else 5  # a busy machine takes longer than it did before
        after = moments.uniform(0, slack * ended.seconds)
        killed = forks({**request, "signal": signal.SIGKILL, "after": after})
        assert killed.code in (0, -signal.SIGKILL), killed.err
        now = _outputs(folder)
        assert now.keys() == new.keys(), "no finished file is lost"
        for output, data in now.items():
            assert data in (OLD, new[output]), f"{output} is half written"
        states = {data == OLD for data in now.values()}
        counts["between" if len(states) > 1 else "before" if states == {True} else "after"] += 1
        counts["left temporaries"] += bool(_left_over(folder))
    assert forks(request).code == 0
    assert _outputs(folder) == new
    assert _left_over(folder) == []
    return counts


@pytest.mark.parametrize("name", ["convert"])
def test_a_few_kills(forks: Callable[[dict[str, Any]], Ended], inputs: Path, name: str) -> None:
    _killed(forks, inputs, name, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_many_kills(forks: Callable[[dict[str, Any]], Ended], inputs: Path, name: str) -> None:
    start = time.monotonic()
    counts = _killed(forks, inputs, name, int(os.environ.get("HEXSIM_KILLS", "40")))
    print(f"\n{name}: {counts}, {time.monotonic() - start:.0f} s")
    assert counts["before"] > 0
    assert counts["after"] > 0
