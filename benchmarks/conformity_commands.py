"""Every model of ONNX's tests through every command: a table of how they ended.

python -m benchmarks.conformity_commands [--only PART_OF_A_NAME]

A command answers (exit code 0) or refuses in one sentence (exit code 2); anything else is a
failure, and so is no end within `SECONDS`. What a command answers is judged elsewhere
(`benchmarks.conformity`).
Inputs are seeded. Models that cannot be read have none, and every command refuses those.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Literal
from unittest import mock

import numpy as np
import onnx

from benchmarks.conformity import cases
from hexsim.cli import main as hexsim_main
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError
from hexsim.inputs.seeded import seeded_calibration
from hexsim.snpe import main as snpe_main
from hexsim.snpe.tool import TOOLS

COMMANDS: Mapping[str, str] = {
    "info": "info m.onnx --imports --json info.json --csv info.csv",
    "profile": "profile m.onnx --chip sd835 --json p.json --csv p.csv --trace p_trace.json",
    "bench": "bench --chip sd835 --model m.onnx --json b.json --csv b.csv",
    "quantize": "quantize m.onnx --input-list list.txt -o q.dlc",
    "run": "run m.onnx --chip sd835 --runtime cpu --input-list list.txt -o out",
    "run on dsp": "run m.onnx --chip sd835 --input-list list.txt -o out_dsp",
    "validate": "validate m.onnx --chip sd835 --json v.json --csv v.csv",
    "partition": "partition m.onnx --chip sd855 --runtime aip --json cut.json",
    "roofline": "profile m.onnx --chip sd835 --roofline --json r.json --csv r.csv",
    "throughput": "throughput m.onnx --chip sd835 --inferences 2 --json t.json",
}
SECONDS = 300
"""That a command may take."""

Effect = Literal["answered", "refused", "failed"]
EFFECTS: tuple[Effect, ...] = ("answered", "refused", "failed")


@dataclass(frozen=True)
class Ended:
    """How a command ended with the model of a test: what it printed last, or the traceback."""

    case: str
    command: str
    effect: Effect
    said: str


def ends(name: str, model: onnx.ModelProto, commands: Iterable[str] = COMMANDS) -> Iterator[Ended]:
    """Run commands on `model`, in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("m.onnx").write_bytes(model.SerializeToString())
        write_inputs(Path("m.onnx"))
        for command in commands:
            effect, said = run(COMMANDS[command])
            yield Ended(name, command, effect, said)


NOT_WITHIN_LIMITS = ("compare", "decide")
"""Commands whose exit code 1 is an answer: a change, or every choice, exceeds what was allowed."""


def run(line: str) -> tuple[Effect, str]:
    """How a line of hexsim, or of one of SNPE's tools, ends in this process, and what it says."""
    words = shlex.split(line)
    words = words if words[0] in TOOLS else ["hexsim", *words]
    program = snpe_main if words[0] in TOOLS else hexsim_main
    err = io.StringIO()
    with (
        mock.patch.object(sys, "argv", words),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(err),
        _time_limit(SECONDS),
    ):
        try:
            program()
        except SystemExit as done:
            code = done.code or 0
            if done.__cause__ is not None:  # a fault of hexsim
                return "failed", "".join(traceback.format_exception(done.__cause__))
        except Exception:  # a command may raise nothing else, so whatever it is has failed
            return "failed", traceback.format_exc()
    said = err.getvalue().strip()
    sentence = said.splitlines()[-1] if said else ""
    if code == 0 or (code == 1 and words[1] in NOT_WITHIN_LIMITS):
        return "answered", ""
    refuses = code == 2 and sentence.startswith(f"{words[0]}: ")
    return ("refused" if refuses else "failed"), sentence


@contextlib.contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no end within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def write_inputs(model: Path) -> None:
    """Write a list of two seeded sets of inputs; an empty one for a model that is refused."""
    lines = []
    with contextlib.suppress(HexsimError):
        network = load(model).network
        for number, feed in enumerate(seeded_calibration(network, 2)):
            files = {name: f"{number}_{at}.raw" for at, name in enumerate(network.inputs)}
            for name, file in files.items():
                Path(file).write_bytes(np.asarray(feed[name], "<f4").tobytes())
            lines.append(" ".join(files.values()))
    Path("list.txt").write_text("\n".join(lines))


def table(endings: Iterable[Ended]) -> str:
    """How often each command answered, refused and failed."""
    counts = Counter((ended.command, ended.effect) for ended in endings)
    rows = [f"| command | {' | '.join(EFFECTS)} |", "|---" * (len(EFFECTS) + 1) + "|"]
    for command in COMMANDS:
        rows.append(f"| {command} | {' | '.join(str(counts[command, e]) for e in EFFECTS)} |")
    return "\n".join(rows)


def _part(only: str, first: int, every: int) -> list[Ended]:
    """What becomes of each `every`-th model."""
    return [end for case in list(cases(only))[first::every] for end in ends(case.name, case.model)]


def main() -> None:
    """Print what failed, then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    os.environ.setdefault("COLUMNS", "200")
    jobs = os.cpu_count() or 1
    with ProcessPoolExecutor(jobs) as pool:
        parts = pool.map(_part, [given.only] * jobs, range(jobs), [jobs] * jobs)
        endings = [ended for part in parts for ended in part]
    for ended in endings:
        if ended.effect == "failed":
            print(f"{ended.command} of {ended.case}: {ended.said}")
    print(table(endings))


if __name__ == "__main__":
    main()
