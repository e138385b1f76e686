"""Judges damaged files by their numbers, and prints each place that broke once.

    python -m tests.fuzz [GENERATOR ...] [--cases N] [--first N] [--said FILE]

By default the files of all readers go through the commands that read them. It ends with exit code
1 if something broke, or if a reader answered or refused all of its files.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.commands import WORKSPACE
from tests.fuzz.process import Judged, judged
from tests.fuzz.workspace import make


def main() -> None:
    """Judge as many cases as asked for, and print what came of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("generators", nargs="*", default=["commands"])
    parser.add_argument("--cases", type=int, default=1000, help="Cases of each generator.")
    parser.add_argument("--first", type=int, default=0, help="Number of the first case.")
    parser.add_argument("--said", type=Path, help="File for what was said of every case.")
    given = parser.parse_args()
    broken: Counter[str] = Counter()
    outcomes: Counter[tuple[str, bool]] = Counter()
    with _workspace(), contextlib.ExitStack() as stack:
        log = stack.enter_context(given.said.open("w")) if given.said else None
        for generator in given.generators:
            for case in judged(generator, given.first, given.cases):
                print(generator, case, file=log, flush=True) if log else None
                if case.fault and not broken[case.place]:
                    print(f"BROKEN {generator} {case.number}: {case.fault}", flush=True)
                broken[case.place] += bool(case.fault)
                outcomes[_reader(generator, case), _answered(case)] += not case.fault
    for place, count in broken.most_common():
        if count:
            print(f"{count} times {place}")
    one_way = 0
    for reader in sorted({reader for reader, _ in outcomes}):
        answered, refused = outcomes[reader, True], outcomes[reader, False]
        one_way += not answered or not refused
        print(f"{reader}: {answered} answered, {refused} refused")
    raise SystemExit(bool(+broken or one_way))


def _reader(generator: str, case: Judged) -> str:
    return f"{generator}: {case.said.partition(' | ')[0]}" if generator == "commands" else generator


def _answered(case: Judged) -> bool:
    return not case.said.rpartition(" | ")[2].strip()


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
