"""A worker process of `hexsim.studies.processes`, which does parts until its input ends.

It listens on no port. Requests come through the pipe that is its standard input, and answers go
through its standard output; only the process that started it has the other ends. Messages are
pickled, as `multiprocessing` does between the processes of a user.

When the other process is gone, this one exits at once and without a message.
"""

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
    """The data that the following parts share, and the function that does each of them."""

    work: Callable[[Any, int, int], Any]
    shared: Any


class PartRequest(NamedTuple):
    """The part from `first` to before `stop`, of the `call` whose share came last."""

    call: int
    first: int
    stop: int


class PartAnswer(NamedTuple):
    """The result of the part from `first` on, or the exception raised instead."""

    call: int
    first: int
    result: Any
    raised: BaseException | None


READY = PartAnswer(-1, 0, None, None)
"""The first answer of a worker that has started."""


def main() -> None:
    """Answer the requests of the standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it and closes the pipe
    requests, answers = _taken(0, os.O_RDONLY), _taken(1, os.O_WRONLY)
    coming: SimpleQueue[bytes] = SimpleQueue()
    receive = Connection(requests, writable=False).recv_bytes
    threading.Thread(target=_read, args=(receive, coming), daemon=True).start()
    try:
        _work(coming, Connection(answers, readable=False))
    except OSError:  # nobody reads the answers any more
        _end()


def _taken(number: int, flags: int) -> int:
    """Take over a standard pipe; other code that reads or prints there gets the null device."""
    pipe, nothing = os.dup(number), os.open(os.devnull, flags)
    os.dup2(nothing, number)
    os.close(nothing)
    return pipe


def _read(receive: Callable[[], bytes], coming: SimpleQueue[bytes]) -> None:
    """Receive messages, also while a part is in progress; exit at the end of the pipe."""
    try:
        while True:
            coming.put(receive())
    except (EOFError, OSError):
        _end()


def _end() -> NoReturn:
    """Exit at once and remove the folder of this process."""
    with suppress(OSError):
        os.rmdir(os.getcwd())
    os._exit(0)


def _work(coming: SimpleQueue[bytes], answers: Connection) -> NoReturn:
    answers.send(READY)
    share: Share | BaseException | None = None
    while True:
        try:
            request: Share | PartRequest = ForkingPickler.loads(coming.get())
        except Exception as error:  # shared data may belong to a module that is missing here
            share = error
            continue
        if isinstance(request, Share):
            share = request
        else:
            _send(answers, _answer(share, request))


def _answer(share: Share | BaseException | None, part: PartRequest) -> PartAnswer:
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
        message = ForkingPickler.dumps(answer)
        if answer.raised is not None:
            ForkingPickler.loads(message)  # some exceptions can be pickled but not unpickled
    except Exception as error:
        cause = answer.raised or error
        readable = RuntimeError(f"{type(cause).__name__}: {cause}")
        message = ForkingPickler.dumps(PartAnswer(answer.call, answer.first, None, readable))
    answers.send_bytes(message)


if __name__ == "__main__":
    from hexsim.studies import worker

    worker.main()  # messages must have the classes of this module, not those of __main__
