"""The example of docs/concepts/snpe-bench.md: a config, the files it leaves, and its table.

python -m benchmarks.snpe_bench_page [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.pages import CONCEPTS, ROOT, with_block
from hexsim.dlc.loading import load
from hexsim.files.atomic_write import scratch, write_text
from hexsim.inputs.seeded import seeded_calibration

PAGE = CONCEPTS / "snpe-bench.md"
CONFIG = {
    "Name": "SqueezeNet",
    "HostRootPath": "squeezenet",
    "HostResultsDir": "squeezenet/results",
    "DevicePath": "/data/local/tmp/snpebm",
    "Devices": ["8998"],
    "Runs": 2,
    "Model": {
        "Name": "SqueezeNet",
        "Dlc": "squeezenet1_1",
        "InputList": "raw_list.txt",
        "Data": ["data/cropped"],
    },
    "Runtimes": ["GPU", "CPU", "DSP"],
    "BufferTypes": ["float", "ub_tf8"],
    "ProfilingLevel": "moderate",
    "Measurements": ["timing"],
}
_WHEN = "2026-01-31_12:00:00"
"""Stands for the time of the run."""


def example() -> str:
    """Return config, command, what it prints, the files it leaves, and the end of its CSV."""
    with scratch() as folder:
        _inputs(folder)
        (folder / "config.json").write_text(_config())
        words = ("-m", "hexsim.snpe", "snpe_bench.py", "-c", "config.json")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        for variable in ("HEXSIM_CHIP", "HEXSIM_STACK"):
            environment.pop(variable, None)
        printed = subprocess.run(
            (sys.executable, *words), cwd=folder, env=environment, check=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ).stdout  # fmt: skip
        results = (folder / "squeezenet/results/latest_results").resolve()
        (table,) = (path.read_text() for path in results.glob("*.csv"))
        tree = sorted(p.relative_to(results).as_posix() for p in results.rglob("*") if p.is_file())
    printed = printed.replace(results.name, _WHEN)
    rows = table.splitlines()
    shown = "\n".join(rows[next(at for at, row in enumerate(rows) if row.startswith(",, ,")) :])
    files = "\n".join(name for name in tree if "Run2" not in name)
    return (
        f"```json\n{_config()}```\n\n```\n$ snpe_bench.py -c config.json\n{printed}```\n\n"
        f"It leaves these files, and those of the second runs:\n\n```\n{files}\n```\n\n"
        f"The CSV tells configuration and device, and then:\n\n```\n{shown}\n```"
    )


def _config() -> str:
    lines = json.dumps(CONFIG, indent=1)
    return lines + "\n"


def _inputs(folder: Path) -> None:
    """Two made-up pictures, and the list that names them as a device would have them."""
    network = load("squeezenet1_1").network
    (folder / "data/cropped").mkdir(parents=True)
    for index, feed in enumerate(seeded_calibration(network, 2, 1)):
        (values,) = feed.values()
        values.astype("<f4").tofile(folder / f"data/cropped/{index}.raw")
    (folder / "raw_list.txt").write_text("cropped/0.raw\ncropped/1.raw\n")


def page() -> str:
    """The page with today's example."""
    return with_block(PAGE.read_text(encoding="utf-8"), "example", example())


def main() -> None:
    """Print the example, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        write_text(PAGE, page())
    else:
        print(example())


if __name__ == "__main__":
    main()
