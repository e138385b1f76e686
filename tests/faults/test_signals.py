"""Ctrl-C and its like: one line, the code of shells, no temporary file; readers may leave."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.conftest import Run
from tests.thorough import THOROUGH

ENDS = {
    signal.SIGINT: (130, "hexsim: interrupted\n"),
    signal.SIGTERM: (143, "hexsim: ended by a request from outside\n"),
    signal.SIGHUP: (129, "hexsim: ended, since its terminal is gone\n"),
}

HEXSIM = [sys.executable, "-m", "hexsim"]


LINES = (
    "bench --chip sd835 --json out.json",
    "quantize m.dlc --input-list list.txt -o out.dlc",
    "run --chip sd835 q.dlc --input-list list.txt --trace out.json",
)
PAIRS = [
    pytest.param(
        line, number, marks=() if at == nth else pytest.mark.slow, id=f"{number.name} {line}"
    )
    for nth, number in enumerate(ENDS)
    for at, line in enumerate(LINES)
]
"""Every signal and every line once in quick runs, all pairs in long ones."""


@pytest.mark.parametrize(("line", "number"), PAIRS)
def test_a_signal_at_any_moment(run: Run, inputs: Path, line: str, number: signal.Signals) -> None:
    before = sorted(inputs.rglob("*"))
    moments = random.Random(line)
    for _ in range(6 if THOROUGH else 3):
        ended = run(line, signal=number, after=moments.uniform(0.3, 0.8))
        if ended.code == 0:
            break
        assert (ended.code, ended.err) == ENDS[number]
        left = sorted(inputs.rglob("*"))
        if left != before:  # the signal came when all was written, and nothing less
            assert run(line).code == 0
            assert sorted(inputs.rglob("*")) == left
            break


def test_while_kernels_are_compiled(run: Run, inputs: Path) -> None:
    """Without a cache that takes seconds, in which Python itself would hear nothing."""
    cache = {"HEXSIM_CACHE_DIR": str(inputs / "cache")}
    for after in (0.5, 1.0):
        ended = run(
            "run --chip sd835 q.dlc --input-list list.txt", signal=2, after=after, env=cache
        )
        assert (ended.code, ended.err) == ENDS[signal.SIGINT]
        assert ended.seconds < after + 5


def test_while_everything_is_imported(inputs: Path) -> None:
    """From the moment on when Python has started, which is told by a line of its own."""
    started = "import sys, os; os.write(1, b'!'); from hexsim.cli import main; main()"
    for after in (0.0, 0.01, 0.03, 0.1, 0.2):
        with subprocess.Popen(
            [sys.executable, "-c", started, "bench"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=inputs,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        ) as process:
            assert process.stdout is not None
            assert process.stdout.read(1) == b"!"
            time.sleep(0.03 + after)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err.decode()) == ENDS[signal.SIGINT]


@pytest.mark.parametrize("module", ["hexsim.files.temporaries", "multiprocessing"])
def test_while_a_module_is_half_imported(inputs: Path, module: str) -> None:
    """Whatever the moment: a module that is being imported is there and empty."""
    half = (
        "import os, signal, sys, time, types\n"
        f"sys.modules[{module!r}] = types.ModuleType({module!r})\n"
        "from hexsim.cli._stopping import stoppable\n"
        "with stoppable():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(30)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", half],
        capture_output=True,
        cwd=inputs,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    assert (done.returncode, done.stderr.decode()) == ENDS[signal.SIGINT]


def test_what_was_ignored_stays_ignored(inputs: Path) -> None:
    """As under nohup."""
    with subprocess.Popen(
        ["nohup", *HEXSIM, "profile", "m.dlc", "--json", "out.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=inputs,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=120)
    assert process.returncode == 0
    assert (inputs / "out.json").exists()


@pytest.mark.parametrize("lines", [0, 1])
def test_a_reader_that_leaves(inputs: Path, lines: int) -> None:
    """`hexsim ... | head`: code 0, nothing said, and the files are written all the same."""
    with subprocess.Popen(
        [*HEXSIM, "profile", "m.dlc", "--chip", "sd835", "--json", "out.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=inputs,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 0
    assert (inputs / "out.json").exists()


@pytest.mark.parametrize(
    "closed",
    [
        "<&- >&- 2>&-",
        *(
            pytest.param(redirection, marks=pytest.mark.slow)
            for redirection in ("<&-", ">&-", "2>&-")
        ),
    ],
)
def test_streams_that_are_closed(inputs: Path, closed: str) -> None:
    """A file that is opened later must not become the standard output."""
    command = "profile m.dlc --chip sd835 --json out.json --csv out.csv"
    line = f"{sys.executable} -m hexsim {command} {closed}"
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        cwd=inputs,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (inputs / "out.json").read_text().startswith("{")
    assert (inputs / "out.csv").read_text().startswith("name,")


@pytest.mark.slow
def test_two_writers_leave_one_whole_file(inputs: Path) -> None:
    """Of several programs that write the same names at once, each in its own format."""
    path = os.pathsep.join(filter(None, sys.path))
    kinds = (("--json", "--csv"), ("--csv", "--json"))
    running = [
        subprocess.Popen(
            [*HEXSIM, "info", "m.dlc", option, "a", other, "b"],
            stdout=subprocess.DEVNULL,
            cwd=inputs,
            env={**os.environ, "PYTHONPATH": path},
        )
        for option, other in kinds
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    texts = {name: (inputs / name).read_text() for name in "ab"}
    for text in texts.values():
        assert text.startswith("{") == text.rstrip().endswith("}")
    assert not list(inputs.glob(".hexsim-*"))
