"""What is late is stopped, what is in time is not, and one thread sees to all of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from hexsim.onnx_io.float_engine import Watch, limited

LONG_S = 3600.0
AT_MOST_S = 60.0
"""A wait that only a fault makes so long."""


def _never() -> None:
    raise AssertionError("in time")


def test_who_is_late_is_stopped() -> None:
    stopped = threading.Event()
    with limited(0.0, stopped.set):
        assert stopped.wait(AT_MOST_S)


def test_an_earlier_end_is_heard_of_while_a_later_one_is_waited_for() -> None:
    watch, stopped = Watch(), threading.Event()
    with watch.limit(LONG_S, _never), watch.limit(0.05, stopped.set):
        assert stopped.wait(AT_MOST_S)


def test_nobody_is_stopped_after_the_block() -> None:
    watch, calls, stopped = Watch(), list[str](), threading.Event()
    with watch.limit(0.05, lambda: calls.append("late")):
        pass
    with watch.limit(0.1, stopped.set):
        assert stopped.wait(AT_MOST_S)
    assert calls == []


def test_a_limit_without_end_is_one() -> None:
    watch, stopped = Watch(), threading.Event()
    with watch.limit(1e300, _never), watch.limit(0.0, stopped.set):
        assert stopped.wait(AT_MOST_S)


def test_a_block_that_fails_is_not_watched_any_more() -> None:
    watch, stopped = Watch(), threading.Event()
    with pytest.raises(KeyError), watch.limit(0.05, _never):
        raise KeyError
    with watch.limit(0.1, stopped.set):
        assert stopped.wait(AT_MOST_S)


def test_many_blocks_start_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Callable[[], None] | None] = []

    class Counted(threading.Thread):
        def start(self) -> None:
            started.append(self.run)
            super().start()

    monkeypatch.setattr(threading, "Thread", Counted)
    watch = Watch()
    for _ in range(100):
        with watch.limit(LONG_S, _never):
            pass
    assert len(started) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_watches_too() -> None:
    with limited(LONG_S, _never):
        pid = os.fork()
        if pid == 0:
            stopped = threading.Event()
            with limited(0.0, stopped.set):
                os._exit(not stopped.wait(AT_MOST_S))
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
