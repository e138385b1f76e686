"""Engines in processes of their own, of which only the one whose turn it is runs.

Engines keep threads that look out for work for a while after each inference. In one process, or in
two that both run, they take the core on which the other is being timed. Here a process is stopped
(SIGSTOP) until its turn, so that whatever its threads do, they do at no one else's cost. The first
inferences of a turn bring its weights back into the cache and do not count.

Clocks are elapsed time and CPU time of all threads of the process. Needs POSIX signals. What runs
an engine imports nothing but numpy and that engine, so its interpreter need not be this one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Run = Callable[[], object]

WARM = 3
"""Inferences of a turn that do not count."""


class Times(NamedTuple):
    """Median of one turn's inferences, in seconds by each clock."""

    elapsed: float
    cpu: float


class EngineProcess:
    """A stopped process that can run one network on one input.

    Raises ChildProcessError if the process ends, which names what it said last.
    """

    def __init__(self, command: Sequence[str | Path]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._answer()  # once it is ready
        self._process.send_signal(signal.SIGSTOP)

    def turn(self, seconds: float) -> Times:
        """Let it run for about so many seconds."""
        self._process.send_signal(signal.SIGCONT)
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(f"{seconds}\n")
            self._process.stdin.flush()
            return Times(*json.loads(self._answer()))
        finally:
            self._process.send_signal(signal.SIGSTOP)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            said = self._process.communicate()[1].strip().splitlines()
            raise ChildProcessError(said[-1] if said else "the process ended without a word")
        return line


def serve(run: Run) -> None:
    """Answer the other side until it closes: one line in, how long; one line out, the times."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever else an engine prints is no answer
    run()
    print("ready", file=answers)
    for line in sys.stdin:
        for _ in range(WARM):
            run()
        elapsed, cpu = [], []
        end = time.perf_counter() + float(line)
        while not elapsed or time.perf_counter() < end:
            start, spent = time.perf_counter(), time.process_time()
            run()
            cpu.append(time.process_time() - spent)
            elapsed.append(time.perf_counter() - start)
        print(json.dumps([float(np.median(elapsed)), float(np.median(cpu))]), file=answers)


def onnxruntime_run(model: str, feed: dict[str, Any], threads: int) -> Run:
    """The model by onnxruntime, as it is by default but for the number of threads."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, feed)


def openvino_run(model: str, feed: dict[str, Any], threads: int) -> Run:
    """The model by OpenVINO, tuned for the time of one inference."""
    import openvino

    compiled = openvino.Core().compile_model(
        model, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
    )
    request = compiled.create_infer_request()
    return lambda: request.infer(feed)


ENGINES = {"onnxruntime": onnxruntime_run, "openvino": openvino_run}


def main() -> None:
    """Arguments: engine, model file, .npz with the input, threads."""
    engine, model, inputs, threads = sys.argv[1:]
    with np.load(inputs) as feed:
        serve(ENGINES[engine](model, dict(feed), int(threads)))


if __name__ == "__main__":
    main()
