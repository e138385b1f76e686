"""Runs damaged files in a process beside this one, which may die or hang without harm."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.onnx_case import SECONDS

ROOT = Path(__file__).parents[2]
BUDGET = 0.02
"""Of what is allowed by default: cases are many, and what is bounded stays in proportion."""


@dataclass(frozen=True)
class Judged:
    """A case by its number: the sentence that refused it, or its fault; neither for an answer."""

    number: int
    said: str = ""
    fault: str = ""
    seconds: float = 0.0


def judged(first: int, count: int) -> Iterator[Judged]:
    """Judge `count` cases from `first` on; one that takes the process with it is a fault."""
    number, end = first, first + count
    while number < end:
        for case in _process(number, end - number):
            number = case.number + 1
            yield case


def _process(first: int, count: int) -> Iterator[Judged]:
    """Cases up to the last, or to that with which the process died or stood still."""
    command = [sys.executable, "-m", "tests.fuzz.onnx_case", str(first), str(count)]
    environment = {**os.environ, "HEXSIM_BUDGET": str(BUDGET)}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment,
        text=True,
    ) as process:
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_pass_on, args=(process, lines), daemon=True).start()
        open_case, begun, started = first, False, False
        while True:
            try:  # the alarm within the process does not end what hangs in C++
                line = lines.get(timeout=3 * SECONDS if begun else 300)
            except queue.Empty:
                process.kill()
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
