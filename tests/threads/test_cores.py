"""Threads by default, as many as the process may use; and work that is spread over them."""

import os
from pathlib import Path

import numpy as np
import pytest

from hexsim.threads import cores


def _container(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 4),
        ({"cpu.max": "max 100000\n"}, 4),
        ({"cpu.max": "250000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "1600000 100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "300000\n"}, 4),
        ({"cpu.max": "nonsense\n"}, 4),
    ],
)
def test_limits_of_a_container(
    files: dict[str, str], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "_CGROUP", _container(tmp_path, files))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(9), raising=False)
    assert cores.default_threads() == expected


def test_cores_that_the_process_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "_CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5}, raising=False)
    assert cores.default_threads() == 1


@pytest.mark.parametrize("count", [0, 1, 1000, 16_001])
def test_spread_work_is_done_once_everywhere(count: int) -> None:
    done = np.zeros(count, np.int64)

    def work(part: slice) -> None:
        done[part] += 1

    cores.spread(work, count, 1000)
    assert (done == 1).all()


def test_what_fails_on_another_core_is_raised() -> None:
    def work(part: slice) -> None:
        raise ValueError(f"from {part.start} on")

    with pytest.raises(ValueError, match="from 0 on"):
        cores.spread(work, 64, 1)
