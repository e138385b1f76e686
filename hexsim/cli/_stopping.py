"""What ends the program from outside: Ctrl-C, a request to end, a terminal that is gone, a limit.

One line is said, temporary files are removed, and the process is over, whatever it was doing: a
thread waits for signals and acts, so neither a kernel that runs for long nor code that catches too
much can be in the way. The line says what is kept for the next run, if anything is. Codes are those
of shells, 128 and the signal's number; a limit on CPU time is a mistake of the user (2). A signal
that was ignored when the program was called stays ignored, as `nohup` wants it. Worker processes
end without a word.

Left out: what comes before `main`, while Python itself starts.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_SAID = {
    signal.SIGINT: (130, "interrupted"),
    signal.SIGTERM: (143, "ended by a request from outside"),
    signal.SIGHUP: (129, "ended, since its terminal is gone"),
    signal.SIGXCPU: (2, "the limit on CPU time is reached; raise it (ulimit -t) or ask for less"),
}
"""Signal -> exit code, and what is said."""

_QUIT = b"\0"

_kept: list[str] = []
"""What is kept where the command is now; read by the thread that waits for signals."""


@contextmanager
def keeping(what: str) -> Iterator[None]:
    """Say `what`, which tells what is kept, if the program is ended in the block."""
    from hexsim.texts.names import visible

    _kept.append(visible(f"{what}, and the same command goes on from there"))
    try:
        yield
    finally:
        _kept.pop()


@contextmanager
def stoppable() -> Iterator[None]:
    """Let these signals end the process inside the block; in a thread that is not the main one
    they are left as they are.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _make_room_for_the_last_word()
    try:
        coming, gone = os.pipe()
    except OSError:  # a limit on files, of which the command will say something
        yield
        return
    os.set_blocking(gone, False)
    watcher = threading.Thread(target=_watch, args=(coming,), name="hexsim-signals", daemon=True)
    before = {number: signal.getsignal(number) for number in _SAID}
    earlier = signal.set_wakeup_fd(gone, warn_on_full_buffer=False)
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _leave_to_watcher)
    try:
        _start(watcher)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(earlier)
        os.write(gone, _QUIT)
        if watcher.ident is not None:
            watcher.join()
        os.close(coming)
        os.close(gone)


def _start(watcher: threading.Thread) -> None:
    try:
        watcher.start()
    except RuntimeError:  # a limit on threads: the main one does it, when it gets to it
        for number in _SAID:
            if signal.getsignal(number) is _leave_to_watcher:
                signal.signal(number, lambda number, frame: _stop(number))


def _leave_to_watcher(number: int, frame: object) -> None:
    """Do nothing: the watcher was woken when the signal came."""


def _watch(coming: int) -> None:
    """Wait for the number of a signal, or for the end of the block."""
    while word := os.read(coming, 1):
        if word == _QUIT:
            return
        if word[0] in _SAID:
            _stop(word[0])


def _stop(number: int) -> None:
    code, said = _SAID[signal.Signals(number)]
    try:
        _of_loaded("hexsim.files.temporaries", "abandon")
        with suppress(OSError):
            clear = b"\r\x1b[2K\x1b[?25h" if os.isatty(2) else b""  # progress, hidden cursors
            line = "; ".join(["hexsim: " + said, *_kept[-1:]])
            os.write(2, clear + os.fsencode(f"{line}\n"))
    finally:
        os._exit(code)


def _of_loaded(module: str, function: str) -> Any:
    """What a function returns; None where its module, still being imported, has nothing yet."""
    found = getattr(sys.modules.get(module), function, None)
    return found and found()


def _make_room_for_the_last_word() -> None:
    """Where CPU time is limited, be told a second before the kernel kills."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft >= hard > 1):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CPU, (hard - 1, hard))


def _in_child() -> None:
    """After a fork: signals are the parent's business, and end the child as they would any."""
    if signal.getsignal(signal.SIGINT) is _leave_to_watcher:
        signal.set_wakeup_fd(-1)
        for number in _SAID:
            if signal.getsignal(number) is _leave_to_watcher:
                signal.signal(number, signal.SIG_DFL)


os.register_at_fork(after_in_child=_in_child)
