"""Lists of inputs: two threads that have an inference each, or share the rows of one, over one.

python -m benchmarks.lists [--networks alexnet ...] [--what values validation] [--rounds 12]
    [--models FOLDER] [--write]

A way has a process of its own, stopped until its turn (benchmarks/engine_process.py); in a turn it
goes through lists again and again, and the median counts. Ways are one thread; two that share the
rows of one inference after the other, as for a single input; and two with a list as `run` and
`validate` have it, which decide by themselves whether to deal it out. The keyword network is the
built-in one.

Where two virtual cores lie the host decides (benchmarks/two_threads.py), so the round trip of a
line tells what a round was measured on. A round in which it changed does not count.

Printed is one thread's time over that of two: 25 % median 75 %. Nothing else may run meanwhile.
`--write` puts the rows into docs/results/int8-kernels.md, over those of an earlier run.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import engine_process
from benchmarks.engine_process import EngineProcess
from benchmarks.int8_against_onnxruntime import INPUTS, NETWORKS, Run, on_dsp, ours, shapes_of
from benchmarks.pages import RESULTS, block, with_block
from benchmarks.two_threads import FAR_NS, NEAR_NS, round_trip_ns
from hexsim.accuracy.validation import Counted, Observer
from hexsim.deployment import Deployment
from hexsim.graph.ir import FloatArray
from hexsim.inputs.seeded import seeded_inputs
from hexsim.inputs.stored import stored_inputs

WAYS = ("one", "rows", "list")
WHAT = ("values", "validation")
_LIST_S = {"values": 0.12, "validation": 0.4}
"""Seconds that a list takes one thread, about."""
_TURN_S = {"values": 0.3, "validation": 0.6}
_PAUSE_S = 0.15
"""Between rounds, because only then do cores move."""

Feeds = list[dict[str, FloatArray]]
Every = Callable[[Deployment, Iterable[dict[str, FloatArray]]], Iterable[object]]


class Round(NamedTuple):
    """Nanoseconds of a round trip before and after, and seconds of a list by way."""

    before_ns: float
    after_ns: float
    seconds: dict[str, float]

    def ratio(self, way: str) -> float:
        """One thread's time over that of two."""
        return self.seconds["one"] / self.seconds[way]

    @property
    def cores(self) -> str | None:
        """Where they were, if that is known of all of the round."""
        near = max(self.before_ns, self.after_ns) < NEAR_NS
        far = min(self.before_ns, self.after_ns) > FAR_NS
        return "near" if near else "far" if far else None


def _values(deployment: Deployment, way: str) -> Callable[[Feeds], Iterable[object]]:
    executor = deployment.executor(1 if way == "one" else 2)
    return executor.run_each if way == "list" else partial(map, executor.run)


def _validation(deployment: Deployment, way: str) -> Callable[[Feeds], Iterable[object]]:
    observer = Observer(deployment, 1, None, 1 if way == "one" else 2)

    def in_rows(feeds: Feeds) -> Iterator[object]:
        for feed in feeds:
            yield observer.observe([Counted(feed, 1)])

    def dealt_out(feeds: Feeds) -> Iterator[object]:
        return observer.observe_each(Counted(feed, 1) for feed in feeds)

    return in_rows if way == "rows" else dealt_out


def deployed(network: str, folder: Path) -> tuple[Deployment, Feeds]:
    """A network with one scale per tensor on the DSP, and inputs in stored order."""
    feeds = list(seeded_inputs(shapes_of(network, folder), INPUTS))
    model = ours(network, "tensor", folder, feeds)
    return on_dsp(model, "tensor"), [stored_inputs(model.network, feed) for feed in feeds]


def serve_list() -> None:
    """What a process does; the arguments are those that `rounds_of` gives it."""
    what, way, network, folder, length = sys.argv[1:]
    deployment, feeds = deployed(network, Path(folder))
    work = (_values if what == "values" else _validation)(deployment, way)
    given = [feeds[at % len(feeds)] for at in range(int(length))]
    engine_process.serve(lambda: deque(work(given), maxlen=0))


def list_length(what: str, network: str, folder: Path) -> int:
    """So many inputs that one thread takes some time for them; as many for each of two."""
    deployment, feeds = deployed(network, folder)
    work = (_values if what == "values" else _validation)(deployment, "one")
    run: Run = lambda: deque(work(feeds), maxlen=0)  # noqa: E731
    run()
    begun = time.perf_counter()
    run()
    each = (time.perf_counter() - begun) / len(feeds)
    return 2 * max(2, round(_LIST_S[what] / each / 2))


def rounds_of(what: str, network: str, rounds: int, folder: Path) -> tuple[int, list[Round]]:
    """The length of the list, and what each round said."""
    length = list_length(what, network, folder)
    begin = f"from {__spec__.name} import serve_list; serve_list()"
    with contextlib.ExitStack() as stack:
        ways = {}
        for way in WAYS:
            command = [sys.executable, "-c", begin, what, way, network, folder, str(length)]
            ways[way] = EngineProcess(command)
            stack.callback(ways[way].close)
        measured = []
        for _ in range(rounds):
            before = round_trip_ns()
            seconds = {way: runner.turn(_TURN_S[what]).elapsed for way, runner in ways.items()}
            measured.append(Round(before, round_trip_ns(), seconds))
            time.sleep(_PAUSE_S)
    return length, measured


HEAD = """\
| network | what | one thread, ms | rows, near cores | list, near cores | rows, far | list, far |
| --- | --- | --- | --- | --- | --- | --- |"""


def row(what: str, network: str, length: int, rounds: list[Round]) -> str:
    """A row of a Markdown table."""
    alone = 1e3 * float(np.median([timed_round.seconds["one"] for timed_round in rounds])) / length
    cells = [
        _cell([timed_round.ratio(way) for timed_round in rounds if timed_round.cores == cores])
        for cores in ("near", "far")
        for way in ("rows", "list")
    ]
    return f"| {' | '.join([network, what, f'{alone:.3g}', *cells])} |"


def _cell(ratios: list[float]) -> str:
    if not ratios:
        return "-"
    return "{:.2f} **{:.2f}** {:.2f} ({})".format(
        *np.quantile(ratios, [0.25, 0.5, 0.75]), len(ratios)
    )


def merged(old: str, rows: list[str]) -> str:
    """The rows of a table, new ones over old ones; a long table takes several runs."""
    head = HEAD.splitlines()
    every = {
        tuple(splitline.split("|")[1:3]): splitline for splitline in old.splitlines()[len(head) :]
    }
    every |= {tuple(row.split("|")[1:3]): row for row in rows}
    return "\n".join((*head, *every.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=["ds_cnn_s", *NETWORKS])
    parser.add_argument("--what", nargs="+", choices=WHAT, default=list(WHAT))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows = []
    print(HEAD)
    with tempfile.TemporaryDirectory() as name:
        folder = given.models or Path(name)
        for what in given.what:
            for network in given.networks:
                rows.append(row(what, network, *rounds_of(what, network, given.rounds, folder)))
                print(rows[-1], flush=True)
    if given.write:
        page = RESULTS / "int8-kernels.md"
        text = page.read_text("utf-8")
        page.write_text(with_block(text, "lists", merged(block(text, "lists"), rows)), "utf-8")


if __name__ == "__main__":
    main()
