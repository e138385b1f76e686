"""Ends the program when a signal arrives: Ctrl-C, termination, a closed terminal, or a limit.

The program prints one line, removes temporary files and ends the process at once. A thread waits
for signals, so that neither a long kernel nor code that catches exceptions can delay this. The line
says which results are kept for the next run, if any. Exit codes are those of shells, 128 plus the
number of the signal; a limit on CPU time is an error of the user (2). A signal that was ignored
when the program was called stays ignored, as `nohup` requires. Worker processes end without output.

Signals before `main`, while Python itself starts, are not handled.
"""

import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_MESSAGES = {
    signal.SIGINT: (130, "interrupted"),
    signal.SIGTERM: (143, "ended by a request from outside"),
    signal.SIGHUP: (129, "ended, since its terminal is gone"),
    signal.SIGXCPU: (2, "the limit on CPU time is reached; raise it (ulimit -t) or ask for less"),
}
"""The exit code and the message of each signal."""

_QUIT = b"\0"

_kept_results: list[str] = []
"""Sentences about results that are kept at present; read by the thread that waits for signals."""


@contextmanager
def keeping(what: str) -> Iterator[None]:
    """Print `what`, which says which results are kept, if the program is ended in the block."""
    from hexsim.texts.text import visible

    _kept_results.append(visible(f"{what}, and the same command goes on from there"))
    try:
        yield
    finally:
        _kept_results.pop()


@contextmanager
def stoppable() -> Iterator[None]:
    """Let these signals end the process inside the block; does nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _request_early_cpu_signal()
    try:
        read_end, write_end = os.pipe()
    except OSError:  # a limit on files, which the command will report
        yield
        return
    os.set_blocking(write_end, False)
    watcher = threading.Thread(target=_watch, args=(read_end,), name="hexsim-signals", daemon=True)
    before = {number: signal.getsignal(number) for number in _MESSAGES}
    earlier = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
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
        os.write(write_end, _QUIT)
        if watcher.ident is not None:
            watcher.join()
        os.close(read_end)
        os.close(write_end)


def _start(watcher: threading.Thread) -> None:
    try:
        watcher.start()
    except RuntimeError:  # a limit on threads: the main thread handles signals between its steps
        for number in _MESSAGES:
            if signal.getsignal(number) is _leave_to_watcher:
                signal.signal(number, lambda number, frame: _stop(number))


def _leave_to_watcher(number: int, frame: object) -> None:
    """Do nothing: the signal has already woken the watcher."""


def _watch(read_end: int) -> None:
    """Wait for the number of a signal, or for the end of the block."""
    while byte := os.read(read_end, 1):
        if byte == _QUIT:
            return
        if byte[0] in _MESSAGES:
            _stop(byte[0])


def _stop(number: int) -> None:
    code, message = _MESSAGES[signal.Signals(number)]
    try:
        _call_if_loaded("hexsim.files.temporaries", "abandon")
        with suppress(OSError):
            clear = b"\r\x1b[2K\x1b[?25h" if os.isatty(2) else b""  # progress, hidden cursors
            line = "; ".join(["hexsim: " + message, *_kept_results[-1:]])
            os.write(2, clear + os.fsencode(f"{line}\n"))
    finally:
        os._exit(code)


def _call_if_loaded(module: str, function: str) -> Any:
    """Return the result of a function, or None if its module is not or only partly imported."""
    loaded = getattr(sys.modules.get(module), function, None)
    return loaded and loaded()


def _request_early_cpu_signal() -> None:
    """If CPU time is limited, get a signal a second before the kernel kills the process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY and (soft == resource.RLIM_INFINITY or soft >= hard > 1):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CPU, (hard - 1, hard))


def _in_child() -> None:
    """Restore the default signal handlers in a forked child; only the parent handles signals."""
    if signal.getsignal(signal.SIGINT) is _leave_to_watcher:
        signal.set_wakeup_fd(-1)
        for number in _MESSAGES:
            if signal.getsignal(number) is _leave_to_watcher:
                signal.signal(number, signal.SIG_DFL)


os.register_at_fork(after_in_child=_in_child)
