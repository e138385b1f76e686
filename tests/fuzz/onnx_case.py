"""One damaged ONNX file through the library: what came out, and whether anything broke.

    python -m tests.fuzz.onnx_case FIRST COUNT

judges cases by their numbers, in this process: a line of JSON before each, so that whoever reads
them knows which one it was when this process dies or hangs, and one after each. A case is told by
its number alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import hexsim
from benchmarks.conformity_commands import COMMANDS, run, write_inputs
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.inputs.seeded import seeded_inputs
from hexsim.reports.network.data import info_csv
from hexsim.reports.network.imports import imports_table
from hexsim.reports.network.table import info_table
from tests.fuzz.onnx_mutations import mutated
from tests.fuzz.onnx_seeds import seeds

SECONDS = 20
"""Of the processor that a case may take; the slowest valid seed takes a tenth, the first time."""
MEGABYTES = 2000
"""That the process may ever hold: a third of it is the interpreter with its libraries."""
ADDRESSES = 6 << 30
"""Bytes of address space of the process, so that a case cannot take the memory of others."""


def file_of(number: int) -> bytes:
    """The file of a case."""
    rng = random.Random(number)
    return mutated(rng, rng.choice(seeds()))


def judge(data: bytes) -> str:
    """The sentence by which a file was refused, or nothing: then it gave an answer.

    Anything else that it raises is a fault, and so is a command that ends with exit code 70.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path("m.onnx")
        path.write_bytes(data)
        try:
            read = load_container(path)
            info_table(str(path), read)
            info_csv(read)
            imports_table(read.imports)
            hexsim.simulate(read.model)
            hexsim.simulate(read.model, runtime="cpu", inputs=_inputs(read.model.network))
            feed = _inputs(read.model.network)
            hexsim.simulate(hexsim.quantize(read.model, [feed]), inputs=feed)
            number = zlib.crc32(data)
            if number % 4 == 0:  # the way of commands takes longer
                write_inputs(path)
                effect, said = run(list(COMMANDS.values())[number // 4 % len(COMMANDS)])
                if effect == "failed":
                    raise RuntimeError(said)
                return said
        except HexsimError as error:
            return str(error)
    return ""


def _inputs(network: Network) -> dict[str, np.ndarray]:
    shapes = {name: network.tensors[name].source_shape for name in network.inputs}
    return dict(seeded_inputs(shapes, 1)[0])


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"no end within {SECONDS} s")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _held() -> float:
    """The most that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Judge cases and tell of each."""
    first, count = map(int, sys.argv[1:3])
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    seeds()
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries print
    for number in range(first, first + count):
        out.write(json.dumps({"begins": number}) + "\n")
        began, before = time.monotonic(), _held()
        said, fault = "", ""
        try:
            with _alarm():
                said = judge(file_of(number))
        except TimeoutError:
            fault = "hang\n" + traceback.format_exc()
        except BaseException:  # that is what is looked for
            fault = traceback.format_exc()
        held = _held()
        if not fault and held > max(MEGABYTES, before + 100):
            fault = f"memory\nfrom {before:.0f} to {held:.0f} MB"
        took = round(time.monotonic() - began, 2)
        ended = {"ended": number, "said": said, "fault": fault, "seconds": took}
        out.write(json.dumps(ended) + "\n")


if __name__ == "__main__":
    main()
