"""How long the commands take that a user waits for: CPU seconds of whole processes.

python -m benchmarks.command_times [--trees . ../before] [--rounds 5]

Each tree is a checkout with an environment in `.venv`. The trees take turns command by command, so
that other load on the machine meets all of them alike. Compiled files of Python and the caches of
hexsim are there before the first round that counts. User CPU seconds of all threads, medians.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
from pathlib import Path

_BENCH = ("bench", "mobilenet_v2", "--chip", "sd855", "--timing-only")
COMMANDS: dict[str, tuple[str, ...]] = {
    "--help": ("--help",),
    "mistyped chip": ("bench", "mobilenet_v2", "--chip", "sd85"),
    "mistyped file": ("info", "nothing.onnx"),
    "mistyped option": ("overview", "squeezenet1_1", "--htlm", "page.html"),
    "info": ("info", "squeezenet1_1"),
    "bench, dsp": (*_BENCH, "--runtime", "dsp"),
    "bench, all runtimes": _BENCH,
    "bench alexnet, all runtimes": ("bench", "alexnet", *_BENCH[2:]),
    "profile": ("profile", "squeezenet1_1", "--chip", "sd855"),
}


def cpu_s(tree: Path, words: tuple[str, ...]) -> float:
    """User CPU seconds of `hexsim` of a tree with these words; a refusal is an answer too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        [tree / ".venv/bin/python", "-m", "hexsim", *words],
        cwd=tree,
        capture_output=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    )
    if done.returncode not in (0, 2):
        raise SystemExit(f"{tree}: hexsim {' '.join(words)}: {done.stderr.decode()}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", nargs="+", type=Path, default=[Path()])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    trees = [tree.resolve() for tree in given.trees]
    print(f"{'user CPU s, medians':<28}" + "".join(f"{tree.name:>12}" for tree in trees))
    for name, words in COMMANDS.items():
        times: list[list[float]] = [[] for _ in trees]
        for number in range(given.rounds + 1):
            for tree, seconds in zip(trees, times, strict=True):
                taken = cpu_s(tree, words)
                if number:
                    seconds.append(taken)
        medians = "".join(f"{statistics.median(seconds):12.2f}" for seconds in times)
        print(f"{name:<28}{medians}", flush=True)


if __name__ == "__main__":
    main()
