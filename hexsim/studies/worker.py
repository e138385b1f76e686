"""A worker process of `hexsim.studies.processes`: it does parts until nobody asks for more.

It listens nowhere. What it is asked comes through the pipe that is its standard input, and what it
finds goes into the one that is its standard output; only the process that started it has their
other ends. What is between is pickled, as `multiprocessing` does it between a user's processes.

Where the other process is gone, however it ended, this one ends at once and without a word.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from traceback import format_exc
from typing import Any, NamedTuple, NoReturn

from hexsim.errors import HexsimError


class Share(NamedTuple):
    """What the parts that follow share, and the work that is done on each of them."""

    work: Callable[[Any, int, int], Any]
    shared: Any


class Part(NamedTuple):
    """Do the part from `first` to before `stop`, of the `call` whose share came last."""

    call: int
    first: int
    stop: int


class PartAnswer(NamedTuple):
    """What was found of the part from `first` on, or what was raised instead."""

    call: int
    first: int
    found: Any
    raised: BaseException | None


READY = PartAnswer(-1, 0, None, None)
"""The first answer of a worker that has started."""


def main() -> None:
    """Do what comes through the standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's business, which ends the pipe
    asked, answers = _taken(0, os.O_RDONLY), _taken(1, os.O_WRONLY)
    coming: SimpleQueue[bytes] = SimpleQueue()
    receive = Connection(asked, writable=False).recv_bytes
    threading.Thread(target=_read, args=(receive, coming), daemon=True).start()
    try:
        _work(coming, Connection(answers, readable=False))
    except OSError:  # nobody wants the answer any more
        _end()


def _taken(number: int, flags: int) -> int:
    """The pipe at a standard number, which nothing that prints or reads there gets any more."""
    pipe, nothing = os.dup(number), os.open(os.devnull, flags)
    os.dup2(nothing, number)
    os.close(nothing)
    return pipe


def _read(receive: Callable[[], bytes], coming: SimpleQueue[bytes]) -> None:
    """Take what comes, also while a part is being done; the end of the pipe is the end."""
    try:
        while True:
            coming.put(receive())
    except (EOFError, OSError):
        _end()


def _end() -> NoReturn:
    """End at once, whatever is being done; the folder of this process goes with it."""
    with suppress(OSError):
        os.rmdir(os.getcwd())
    os._exit(0)


def _work(coming: SimpleQueue[bytes], answers: Connection) -> NoReturn:
    answers.send(READY)
    share: Share | BaseException | None = None
    while True:
        try:
            asked: Share | Part = ForkingPickler.loads(coming.get())
        except Exception as error:  # what is shared may be of a module that is not known here
            share = error
            continue
        if isinstance(asked, Share):
            share = asked
        else:
            _send(answers, _answer(share, asked))


def _answer(share: Share | BaseException | None, part: Part) -> PartAnswer:
    try:
        if isinstance(share, BaseException):
            raise share
        assert share is not None, "the share comes before its parts"
        return PartAnswer(*part[:2], share.work(share.shared, part.first, part.stop), None)
    except Exception as error:
        if not isinstance(error, HexsimError):
            error.add_note(f"in a worker process: {format_exc()}")
        return PartAnswer(*part[:2], None, error)


def _send(answers: Connection, answer: PartAnswer) -> None:
    try:
        told = ForkingPickler.dumps(answer)
        if answer.raised is not None:
            ForkingPickler.loads(told)  # some exceptions cannot be made anew from what they hold
    except Exception as error:
        cause = answer.raised or error
        plain = RuntimeError(f"{type(cause).__name__}: {cause}")
        told = ForkingPickler.dumps(PartAnswer(answer.call, answer.first, None, plain))
    answers.send_bytes(told)


if __name__ == "__main__":
    from hexsim.studies import worker

    worker.main()  # of the module that its messages are of, and not of __main__
