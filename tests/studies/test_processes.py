"""Workers of this machine: nobody else reaches them, and nothing of what they find is lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hexsim.errors import HexsimError
from hexsim.studies.pool import ranges
from hexsim.studies.processes import Processes, processes
from tests.imports import CHECKOUT


def _slice(shared: bytes, first: int, stop: int) -> bytes:
    return shared[first:stop]


def _tell(shared: None, first: int, stop: int) -> Any:
    """What a process holds and where it is."""
    folder = Path("/proc/self/fd")
    held = [os.readlink(folder / name) for name in os.listdir(folder) if (folder / name).exists()]
    print("a word that nobody hears")
    return held, os.listdir(), sys.flags.isolated, sys.path


def _fail(shared: Exception, first: int, stop: int) -> None:
    if first == 3:
        raise shared


def _die(shared: None, first: int, stop: int) -> int:
    if first == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return first


class _UnpicklableError(Exception):
    """An exception that cannot be made anew from its arguments."""

    def __init__(self, first: int, other: int) -> None:
        super().__init__(f"{first} and {other}")


def _sent(pool: Processes, work: Any, shared: Any, count: int = 8) -> dict[range, Any]:
    return dict(pool.in_parts(work, shared, ranges(count, 1), "things"))


def test_every_part_comes_once_and_what_is_shared_may_be_large() -> None:
    shared = bytes(range(256)) * (1 << 16)
    with processes(2) as pool:
        for size in (1 << 22, 1 << 20):
            parts = dict(pool.in_parts(_slice, shared, ranges(len(shared), size), "bytes"))
            assert b"".join(parts[part] for part in ranges(len(shared), size)) == shared
            assert len(parts) == len(shared) // size


def test_workers_hold_no_socket_and_are_in_empty_folders() -> None:
    with processes(2) as pool:
        for held, seen, isolated, path in _sent(pool, _tell, None).values():
            assert not [name for name in held if name.startswith("socket:")]
            assert (seen, isolated) == ([], 1)
            assert "" not in path
        own = [os.readlink(f"/proc/{pid}/cwd") for pid in pool.pids]
        assert len(set(own)) == 2
        for pid in (os.getpid(), *pool.pids):
            assert not _listening(pid)
    assert not any(Path(folder).exists() for folder in own)


def _listening(pid: int) -> set[str]:
    """The sockets that a process holds and that wait for others to come."""
    folder = Path(f"/proc/{pid}/fd")
    held = {os.readlink(link) for link in folder.iterdir() if link.is_symlink()}
    waiting = set()
    for name, state, at, inode in (
        ("tcp", "0A", 3, 9), ("tcp6", "0A", 3, 9), ("unix", "00010000", 3, 6),
    ):  # fmt: skip
        lines = Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        waiting |= {
            f"socket:[{line.split()[inode]}]" for line in lines if line.split()[at] == state
        }
    return held & waiting


def test_what_is_raised_arrives_and_the_next_call_starts_anew() -> None:
    with processes(2) as pool:
        with pytest.raises(HexsimError, match="the third is bad"):
            _sent(pool, _fail, HexsimError("the third is bad"))
        assert len(_sent(pool, _slice, b"12345678")) == 8
        with pytest.raises(RuntimeError, match="_UnpicklableError: 1 and 2"):
            _sent(pool, _raise_made, None, 1)
        assert len(_sent(pool, _slice, b"12345678")) == 8


def _raise_made(shared: None, first: int, stop: int) -> None:
    raise _UnpicklableError(1, 2)


def test_a_part_of_which_workers_die_is_reported() -> None:
    with processes(1) as pool, pytest.raises(HexsimError, match="die of the things 2 to 2"):
        _sent(pool, _die, None)


def test_workers_that_cannot_start_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hexsim.isolation.python", lambda *words: [sys.executable, "-c", "exit(3)"])
    with processes(2) as pool, pytest.raises(HexsimError, match=r"end as they start \(exit code 3"):
        _sent(pool, _slice, b"12345678")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_one_who_started_them(number: signal.Signals) -> None:
    program = (
        "from hexsim.studies.processes import processes\n"
        "from hexsim.studies.pool import ranges\n"
        "from tests.studies.test_processes import _wait\n"
        "with processes(2) as pool:\n"
        "    for _ in pool.in_parts(_wait, None, ranges(9, 1), 'things'):\n"
        "        print(*pool.pids, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        folders = [os.readlink(f"/proc/{pid}/cwd") for pid in pids]
        process.send_signal(number)
    while any(_lives(pid) for pid in pids):
        time.sleep(0.01)
    assert len(pids) == 2
    assert not any(Path(folder).exists() for folder in folders)


def _wait(shared: None, first: int, stop: int) -> None:
    """The first part is done at once, and the others never."""
    if first:
        time.sleep(3600)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
