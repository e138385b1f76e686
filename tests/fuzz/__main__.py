"""Judges damaged files by their numbers, and prints each place that broke once.

    python -m tests.fuzz [GENERATOR ...] [--cases N] [--first N] [--said FILE]

By default the files of all readers go through the commands that read them; the name of a reader
takes those of one. It ends with exit code 1 if something broke, or if files did not reach a reader.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.commands import WORKSPACE, Outcomes
from tests.fuzz.generators import GENERATORS
from tests.fuzz.process import BUDGET, judged
from tests.fuzz.readers import READERS
from tests.fuzz.workspace import make

_BY_READER = ("commands", *(reader.name for reader in READERS))


def main() -> None:
    """Judge as many cases as asked for, and print what came of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    choices = f"Of {', '.join(GENERATORS)}; default: commands."
    parser.add_argument("generators", nargs="*", default=["commands"], help=choices)
    parser.add_argument("--cases", type=int, default=1000, help="Cases of each generator.")
    parser.add_argument("--first", type=int, default=0, help="Number of the first case.")
    parser.add_argument("--budget", type=float, default=BUDGET, help="HEXSIM_BUDGET of all cases.")
    parser.add_argument("--said", type=Path, help="File for what was said of every case.")
    given = parser.parse_args()
    broken: Counter[str] = Counter()
    unreached: list[str] = []
    with _workspace(), contextlib.ExitStack() as stack:
        log = stack.enter_context(given.said.open("w")) if given.said else None
        for generator in given.generators:
            outcomes = Outcomes()
            for case in judged(generator, given.first, given.cases, given.budget):
                outcomes.add(case)
                print(generator, case, file=log, flush=True) if log else None
                if case.fault and case.place not in broken:
                    print(f"BROKEN {generator} {case.number}: {case.fault}", flush=True)
                broken[case.place] += bool(case.fault)
            print(f"{generator}:\n{outcomes}")
            unreached += outcomes.unreached() if generator in _BY_READER else []
    broken = +broken
    for place, count in broken.most_common():
        print(f"{count} times {place}")
    print("\n".join(unreached))
    raise SystemExit(bool(broken or unreached))


@contextlib.contextmanager
def _workspace() -> Iterator[None]:
    """Good files in a folder that all processes share."""
    with tempfile.TemporaryDirectory(prefix="fuzz-workspace-") as folder:
        with contextlib.chdir(folder):
            make(Path(folder))
        os.environ[WORKSPACE] = folder
        yield


if __name__ == "__main__":
    main()
