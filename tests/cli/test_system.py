"""Large arrays go back to the system when they are let go of."""

import ctypes
import subprocess
import sys

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
