"""Workers that are processes of this machine (`hexsim.studies.worker`), without any socket.

Each has two pipes of its own, and nobody else can reach it. All messages go through them: there is
no name in the file system, no port, and no process between.
"""

from __future__ import annotations

import subprocess
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from itertools import count as numbers
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from os import cpu_count, dup, rmdir
from tempfile import mkdtemp
from typing import TypedDict

from hexsim import isolation
from hexsim.errors import HexsimError, spelled
from hexsim.studies.pool import (
    KEEPS_MEMORY,
    Answer,
    Pool,
    Shared,
    as_here,
    deadly,
    require_libraries,
)
from hexsim.studies.worker import READY, PartAnswer, PartRequest, Share

_AHEAD = 2
"""Parts that a worker has: one in progress and one waiting, so that it is never idle."""
_DEATHS = 4
"""Number of workers that die of a part, or in a row at their start, before an error is raised."""
_PATIENCE_S = 5
"""Seconds that a worker has to exit after its pipe is closed."""


@contextmanager
def processes(count: int) -> Iterator[Processes]:
    """Yield `count` worker processes, which end with the block."""
    pool = Processes(count)
    try:
        pool.start()
        yield pool
    finally:
        pool.close()


@dataclass
class _Worker:
    """A process, the ends of its pipes, and its parts without an answer."""

    process: subprocess.Popen[bytes]
    requests: Connection
    answers: Connection
    folder: str
    ready: bool = False
    waiting: deque[range] = field(default_factory=deque)

    @classmethod
    def started(cls) -> _Worker:
        """Start a worker in an empty folder of its own."""
        folder = mkdtemp(prefix="hexsim-")
        process = subprocess.Popen(
            isolation.python("-m", "hexsim.studies.worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=isolation.environment(**{name: str(size) for name, size in KEEPS_MEMORY.items()}),
            start_new_session=True,  # the parent handles Ctrl-C
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process.stdin, process.stdout:  # the connections have these pipes from here on
            requests = Connection(dup(process.stdin.fileno()), readable=False)
            answers = Connection(dup(process.stdout.fileno()), writable=False)
        return cls(process, requests, answers, folder)

    def send(self, message: bytes | memoryview) -> None:
        """Send a pickled message; a dead worker is noticed at the other pipe."""
        with suppress(OSError):
            self.requests.send_bytes(message)

    def answer(self) -> PartAnswer | None:
        """Return the next answer; None if the worker is dead."""
        try:
            received: PartAnswer = self.answers.recv()
        except (EOFError, OSError):
            return None
        return received

    def close(self) -> None:
        self.requests.close()
        self.answers.close()
        try:
            self.process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        with suppress(OSError):
            rmdir(self.folder)


class Processes:
    """A pool (`hexsim.studies.pool`) of processes of this machine, one thread each."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._all: list[_Worker] = []
        self._calls = numbers()
        self._failed_starts = 0

    @property
    def description(self) -> str:
        """The number of processes in words."""
        return f"{self._count} worker process{'es' if self._count > 1 else ''}"

    @property
    def workers(self) -> int:
        """Number of processes."""
        return self._count

    @property
    def threads(self) -> int:
        """Number of processes: each does one part at a time."""
        return self._count

    @property
    def pids(self) -> list[int]:
        """The process ids of the living workers."""
        return [worker.process.pid for worker in self._all]

    def start(self) -> None:
        """Start all."""
        while len(self._all) < self._count:
            self._all.append(_Worker.started())

    def close(self) -> None:
        """End all."""
        for worker in self._all:
            with suppress(OSError):
                worker.requests.close()  # all begin to exit at the same time
        while self._all:
            self._all.pop().close()

    def in_parts(
        self,
        work: Callable[[Shared, int, int], Answer],
        shared: Shared,
        parts: Iterable[range],
        items: str,
    ) -> Iterator[tuple[range, Answer]]:
        """Yield parts and their results, as `hexsim.studies.pool.Pool` says."""
        call = next(self._calls)
        share = ForkingPickler.dumps(Share(as_here(work), shared))
        coming = iter(parts)

        def give(worker: _Worker) -> None:
            for part in islice(coming, _AHEAD - len(worker.waiting)):
                worker.waiting.append(part)
                worker.send(ForkingPickler.dumps(PartRequest(call, part.start, part.stop)))

        for worker in self._all:
            worker.waiting.clear()  # of an abandoned call, whose answers are ignored too
            worker.send(share)
            give(worker)
        deaths: Counter[int] = Counter()
        while any(worker.waiting for worker in self._all):
            ready = wait([worker.answers for worker in self._all])
            for worker in [worker for worker in self._all if worker.answers in ready]:
                answer = worker.answer()
                if answer is None:
                    if worker.waiting:
                        deadly_part = worker.waiting[0]
                        deaths[deadly_part.start] += worker.ready
                        if deaths[deadly_part.start] >= _DEATHS:
                            raise deadly(items, deadly_part)
                    coming = chain(worker.waiting, coming)
                    new = self._replace(worker)
                    new.send(share)
                    give(new)
                elif answer == READY:
                    worker.ready, self._failed_starts = True, 0
                elif answer.call == call:
                    part = worker.waiting.popleft()
                    assert part.start == answer.first, "a worker answers in the order of its parts"
                    give(worker)
                    if answer.raised is not None:
                        raise answer.raised
                    yield part, answer.result

    def _replace(self, dead: _Worker) -> _Worker:
        """Start a worker in place of a dead one; raise HexsimError if none ever starts."""
        dead.close()
        if not dead.ready:
            self._failed_starts += 1
            if self._failed_starts >= _DEATHS:
                code = dead.process.returncode
                raise HexsimError(
                    f"worker processes end as they start (exit code {code}), perhaps for lack of "
                    f"memory; give fewer {spelled('workers')}"
                )
        new = _Worker.started()
        self._all[self._all.index(dead)] = new
        return new


class Sharing(TypedDict, total=False):
    """Who shares the work: a number of processes, or the workers of a dask scheduler."""

    workers: int | None
    scheduler: str | None


@contextmanager
def workers_of(count: int | None, scheduler: str | None = None) -> Iterator[Pool]:
    """Yield `count` own processes, None for one per core, or the workers of a dask `scheduler`.

    Raises HexsimError if both are given, if dask is missing for a scheduler, if no scheduler
    answers at that address, or if workers have another version of hexsim.
    """
    if scheduler is None:
        with processes(count or cpu_count() or 1) as pool:
            yield pool
        return
    if count is not None:
        raise HexsimError(
            f"{spelled('workers')} are processes of this machine; leave it out with "
            f"{spelled('scheduler')}"
        )
    require_libraries(f"{spelled('scheduler')} needs", "distributed")
    from hexsim.studies.cluster import cluster

    with cluster(scheduler) as pool:
        yield pool
