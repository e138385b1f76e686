"""What is left over is removed; what somebody is writing is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hexsim.files import temporaries
from hexsim.files.atomic_write import write_text


def _left_by_a_dead_process(folder: Path) -> Path:
    """A file of a process of this machine that has ended."""
    made = "import sys, pathlib; from hexsim.files import temporaries as t; "
    made += "print(t.create(pathlib.Path(sys.argv[1]), 0o600)[1])"
    done = subprocess.run(
        [sys.executable, "-c", made, str(folder)], capture_output=True, text=True, check=True
    )
    return Path(done.stdout.strip())


def test_the_next_writer_cleans_what_a_dead_one_left(tmp_path: Path) -> None:
    left = _left_by_a_dead_process(tmp_path)
    assert left.exists()
    write_text(tmp_path / "out", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_living_writer_s_file_stays(tmp_path: Path) -> None:
    handle, path = temporaries.create(tmp_path, 0o600)
    try:
        temporaries.clean(tmp_path)
        assert path.exists()
    finally:
        os.close(handle)
        temporaries.remove(path)
    assert not path.exists()


def test_a_number_that_was_given_again_is_another_process(tmp_path: Path) -> None:
    path = temporaries.name_in(tmp_path)
    machine, pid, start, letters = path.name[len(".hexsim-") : -len(".tmp")].split("-")
    again = tmp_path / f".hexsim-{machine}-{pid}-{int(start) - 1}-{letters}.tmp"
    again.touch()
    temporaries.clean(tmp_path)
    assert not again.exists()


@pytest.mark.parametrize(("age_s", "stays"), [(0, True), (temporaries.OLD_S + 60, False)])
def test_another_machine_s_files_go_when_they_are_old(
    tmp_path: Path, age_s: int, stays: bool
) -> None:
    path = tmp_path / ".hexsim-00000000-1-1-00000000.tmp"
    path.touch()
    now = path.stat().st_mtime
    os.utime(path, (now - age_s, now - age_s))
    temporaries.clean(tmp_path)
    assert path.exists() == stays


def test_what_only_looks_alike_stays(tmp_path: Path) -> None:
    names = (".hexsim-notes.tmp", "hexsim-00000000-1-1-00000000.tmp", ".out.json.tmp")
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    temporaries.clean(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_another_user_s_files_stay(tmp_path: Path) -> None:
    left = _left_by_a_dead_process(tmp_path)
    os.chown(left, 12345, 12345)
    temporaries.clean(tmp_path)
    assert left.exists()
