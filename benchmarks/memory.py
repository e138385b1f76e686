"""How much memory a quantised network takes while it runs, beside what its kernels must hold.

python -m benchmarks.memory [--networks alexnet mobilenet_v2 ...]

Each network runs in a process of its own, from a .dlc file. Idle is that process after it has run
the network once and let go of it: compiler and kernels are loaded. Growth is what stays resident
after loading it again and two runs. The yardstick is what the kernels must hold: packed weights
with the constants of their layers, and the arena of activations that are alive at the same time;
working copies of a layer's input are not counted. The last column is the overhead of packing: bytes
of those arrays per byte of codes.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import hexsim
from hexsim import dlc
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc import Metadata
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.int8.runner import IntegerSubnet

NETWORKS = ["alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "resnet50", "squeezenet1_1"]


def resident() -> int:
    """Bytes of this process in memory, after giving back what is free."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def ran(path: Path) -> PlanExecutor:
    """The network of the file, after two runs."""
    model = hexsim.load(path)
    assert model.quantized
    executor = Deployment(model, Platform.load("sd835"), "dsp").executor(threads=1)
    tensors = [model.network.tensors[name] for name in model.network.inputs]
    feed = {tensor.name: np.full(tensor.shape, 0.5, np.float32) for tensor in tensors}
    for _ in range(2):
        executor.run(feed)
    return executor


def held(thing: Any, seen: set[int]) -> int:
    """Bytes of all arrays that `thing` and what it consists of hold."""
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return held(thing.base, seen) if thing.base is not None else thing.nbytes
    parts: Any = ()
    if isinstance(thing, list | tuple):
        parts = thing
    elif type(thing).__module__.startswith("hexsim."):
        parts = vars(thing).values()
    return sum(held(part, seen) for part in parts)


def measure(path: Path) -> str:
    """The row of one network, in this process."""
    ran(path)
    idle = resident()
    executor = ran(path)
    growth = resident() - idle
    packed = arena = 0
    for subnet in executor._executors:
        assert isinstance(subnet, IntegerSubnet)
        packed += held(subnet.packed, set())
        arena += held(list(subnet.codes.values()), set())
    codes = executor.plan.stored_bytes
    numbers = (growth / 1e6, packed / 1e6, arena / 1e6, growth / (packed + arena), packed / codes)
    return "{:9.1f} {:9.1f} {:12.1f} {:8.2f} {:9.2f}".format(*numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--dlc", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.dlc is not None:
        print(measure(given.dlc))
        return
    print("network         growth MB packed MB activations MB    ratio  overhead")
    for network in given.networks:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.dlc"
            dlc.write(path, hexsim.quantize(hexsim.load(network)), Metadata())
            again = [sys.executable, "-m", "benchmarks.memory", "--dlc", str(path)]
            row = subprocess.run(again, check=True, capture_output=True, text=True).stdout
        print(f"{network:<16}{row}", end="", flush=True)


if __name__ == "__main__":
    main()
