"""Large arrays go back to the system when they are let go of."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import re, sys
from pathlib import Path
import numpy as np
from hexsim.cli._system import keep_large_arrays, map_large_arrays

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10

if "mapped" in sys.argv:
    map_large_arrays()
if "kept" in sys.argv:
    keep_large_arrays()
np.ones(3 << 20)  # 24 MB: from now on glibc would map nothing smaller by itself
before = resident()
kept = [(np.ones(1 << 19), np.ones(5000)) for _ in range(20)]  # 4 MB, and something behind it
kept = [small for _, small in kept]
print(resident() - before)
"""


def _left(*words: str) -> int:
    """Megabytes that stay of 80 that were let go of."""
    command = [sys.executable, "-c", PROGRAM, *words]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="not glibc")
def test_large_arrays_leave_nothing_behind() -> None:
    assert _left() > 40
    assert _left("mapped") < 10


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="not glibc")
def test_a_command_may_keep_them() -> None:
    assert _left("mapped", "kept") > 40


_ENDS = """
import sys, tempfile
from hexsim.cli._system import seek_cycles_rarely

class Cycle:
    def __init__(self):
        self.itself, self.folder = self, tempfile.TemporaryDirectory()
    def __del__(self):
        sys.stdout.write("cycles were sought")

if "rarely" in sys.argv:
    seek_cycles_rarely()
print(Cycle().folder.name)
"""


@pytest.mark.parametrize("words", [(), ("rarely",)])
def test_a_program_removes_its_folders_and_need_not_seek_cycles_at_its_end(
    words: tuple[str, ...],
) -> None:
    command = [sys.executable, "-c", _ENDS, *words]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    folder, *more = run.stdout.splitlines()
    assert not Path(folder).exists()
    assert more == ([] if words else ["cycles were sought"])
