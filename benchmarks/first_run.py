"""How long the first answer takes: CPU seconds of `hexsim run` on one input, from its start.

python -m benchmarks.first_run [--networks mobilenet_v2 ...] [--rounds 5]

Each process starts from a quantised .dlc file. Cold means an empty cache, which the process fills
with kernels and with what it measured to choose between them; warm means the cache that it left.
Python's own compiled files are there in both. `--help` is what a process takes that runs nothing.
CPU seconds of all threads, so that other load on the machine counts little.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import hexsim
from hexsim import dlc
from hexsim.dlc import Metadata
from hexsim.inputs.seeded import seeded_inputs


def written(network: str, folder: Path) -> Path:
    """Write the quantised network and an input list of one input; return the .dlc file."""
    model = hexsim.quantize(hexsim.load(network))
    (tensor,) = (model.network.tensors[name] for name in model.network.inputs)
    (values,) = seeded_inputs({tensor.name: tensor.source_shape}, 1)
    raw = folder / f"{network}.raw"
    tensor.from_source(values[tensor.name]).astype("<f4").tofile(raw)
    (folder / f"{network}.txt").write_text(f"{raw}\n")
    path = folder / f"{network}.dlc"
    dlc.write(path, model, Metadata())
    return path


def cpu_s(folder: Path, *arguments: str) -> float:
    """CPU seconds of one process that runs `hexsim` with `arguments`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "hexsim", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env={
            **os.environ,
            "HEXSIM_CACHE_DIR": str(folder / "cache"),
            "PYTHONPYCACHEPREFIX": str(folder / "python"),
            "PYTHONDONTWRITEBYTECODE": "",
        },
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(network: str, rounds: int) -> str:
    """One line of the table."""
    cold, warm, idle = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = written(network, folder)
        run = ["run", str(model), "--chip", "sd835", "--input-list", str(model.with_suffix(".txt"))]
        run += ["-o", str(folder / "output"), "--threads", "1"]
        cpu_s(folder, *run)
        for _ in range(rounds):
            shutil.rmtree(folder / "cache")
            cold.append(cpu_s(folder, *run))
            warm.append(cpu_s(folder, *run))
            idle.append(cpu_s(folder, "--help"))
    columns = (
        f"{min(seconds):6.2f} / {statistics.median(seconds):5.2f}" for seconds in (cold, warm, idle)
    )
    return f"{network:<16} {'   '.join(columns)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=["mobilenet_v2", "squeezenet1_1"])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print("CPU s, min / median       cold             warm             --help")
    for network in given.networks:
        print(measure(network, given.rounds), flush=True)


if __name__ == "__main__":
    main()
