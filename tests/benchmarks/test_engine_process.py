"""Engines in processes of their own: only the one whose turn it is runs."""

import sys
import textwrap
import time
from pathlib import Path

import pytest

from benchmarks.engine_process import EngineProcess

ROOT = Path(__file__).parents[2]


def _engine(run: str) -> EngineProcess:
    source = f"""
        import sys, time
        sys.path.insert(0, {str(ROOT)!r})
        from benchmarks.engine_process import serve
        {run}
    """
    return EngineProcess([sys.executable, "-c", textwrap.dedent(source)])


def test_a_turn_gives_the_median_by_both_clocks() -> None:
    engine = _engine("serve(lambda: time.sleep(0.01))")
    try:
        times = engine.turn(0.05)
    finally:
        engine.close()
    assert times.elapsed >= 0.01
    assert times.cpu < times.elapsed  # asleep, it takes no time of a core


def test_between_turns_nothing_runs(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    thread = (
        f"lambda: [open({str(beat)!r}, 'a').write('x') or time.sleep(0.001) for _ in iter(int, 1)]"
    )
    engine = _engine(
        f"import threading; threading.Thread(target={thread}, daemon=True).start(); "
        "serve(lambda: time.sleep(0.01))"
    )
    try:
        engine.turn(0.05)
        time.sleep(0.05)  # the signal has arrived
        before = beat.stat().st_size
        time.sleep(0.1)
        assert 0 < before == beat.stat().st_size
        engine.turn(0.05)
        assert beat.stat().st_size > before
    finally:
        engine.close()


def test_what_an_engine_prints_is_no_answer() -> None:
    engine = _engine("serve(lambda: print('how fast I am'))")
    try:
        assert engine.turn(0.01).elapsed > 0
    finally:
        engine.close()


def test_an_engine_that_ends_says_why() -> None:
    with pytest.raises(ChildProcessError, match="no such network"):
        _engine("sys.exit('no such network')")
