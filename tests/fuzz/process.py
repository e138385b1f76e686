"""Judges cases in a process beside this one, which may die or hang without harm.

The process writes a line of JSON before each case, so that this one knows which it was when the
process dies or hangs, and a line after each.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.watch import CALL_SECONDS, HangError

ROOT = Path(__file__).parents[2]
MEGABYTES = 3000
"""That the process may ever hold: a sixth of it is the interpreter with its libraries."""
BUDGET = 0.05
"""Of what is allowed by default: cases are many, and what is bounded stays in proportion."""
ADDRESSES = 8 << 30
"""Bytes of address space of the process, so that a case cannot take the memory of others."""

Judge = Callable[[int, Path], str]
"""Judges the case of a number, in a folder; what it raises is a fault."""


@dataclass(frozen=True)
class Judged:
    """A case by its number: what was said of it, or its fault."""

    number: int
    said: str = ""
    fault: str = ""
    seconds: float = 0.0

    @property
    def place(self) -> str:
        """The innermost line of hexsim in the traceback of a fault, with what was raised."""
        lines = self.fault.strip().splitlines() or [""]
        own = [line for line in lines if f'File "{ROOT}/hexsim' in line]
        where = own[-1].strip().replace(str(ROOT), "") if own else ""
        return f"{lines[-1][:160]} {where or lines[0]}"


def judged(generator: str, first: int, count: int, budget: float = BUDGET) -> Iterator[Judged]:
    """Judge `count` cases from `first` on; one that takes the process with it is a fault."""
    number, end = first, first + count
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        variables = {**os.environ, "TMPDIR": folder, "HEXSIM_BUDGET": str(budget)}
        while number < end:
            for verdict in _process(generator, number, end - number, variables):
                number = verdict.number + 1
                yield verdict


def _process(
    generator: str, first: int, count: int, environment: Mapping[str, str]
) -> Iterator[Judged]:
    """Cases up to the last, or to that with which the process died or stood still."""
    command = [sys.executable, "-m", "tests.fuzz.process", generator, str(first), str(count)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment,
        text=True,
        start_new_session=True,
    ) as process:
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_pass_on, args=(process, lines), daemon=True).start()
        open_case, begun, started = first, False, False
        while True:
            try:  # the alarm within the process does not end what hangs in C++
                line = lines.get(timeout=6 * CALL_SECONDS if begun else 300)
            except queue.Empty:
                os.killpg(process.pid, signal.SIGKILL)
                yield Judged(open_case, fault="hang in a library")
                return
            if not line:
                break
            record = json.loads(line)
            if "begins" in record:
                open_case, begun, started = record["begins"], True, True
                continue
            begun = False
            yield Judged(record["ended"], record["said"], record["fault"], record["seconds"])
        if process.wait() and not started:
            raise RuntimeError(f"{' '.join(command)} does not start")
        if process.returncode or begun:
            yield Judged(open_case, fault=f"the process ended with {process.returncode}")


def _pass_on(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise HangError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _held() -> float:
    """The most that this process ever held, in MB.

    What getrusage says includes the process that started this one.
    """
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def _judge_one(judge: Judge, number: int) -> tuple[str, str]:
    """What is said of a case, and its fault."""
    before, said, fault = _held(), "", ""
    with tempfile.TemporaryDirectory(prefix="case-") as folder, contextlib.chdir(folder):
        try:
            with _alarm():
                said = judge(number, Path(folder))
        except HangError:
            fault = f"{traceback.format_exc()}\nno end within {CALL_SECONDS} s of the processor"
        except BaseException:  # that is what is looked for
            fault = traceback.format_exc()
    held = _held()
    if not fault and held > max(MEGABYTES, before + 100):
        fault = f"memory: from {before:.0f} to {held:.0f} MB\n{said}"
    return said, fault


def main() -> None:
    """Judge cases and tell of each; end early if memory has grown, so that none is hidden."""
    from tests.fuzz.generators import GENERATORS

    judge = GENERATORS[sys.argv[1]]
    first, count = map(int, sys.argv[2:4])
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries print
    for number in range(first, first + count):
        out.write(json.dumps({"begins": number}) + "\n")
        began = time.process_time()
        said, fault = _judge_one(judge, number)
        took = round(time.process_time() - began, 2)
        ended = {"ended": number, "said": said, "fault": fault, "seconds": took}
        out.write(json.dumps(ended) + "\n")
        if _held() > MEGABYTES / 2:
            break


if __name__ == "__main__":
    main()
