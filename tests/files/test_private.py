"""What is kept between runs lies where nobody else can write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexsim.files.private import is_own, private_folder

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("HEXSIM_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    before = os.umask(0)
    yield
    os.umask(before)


def test_all_that_is_made_is_closed_to_others(tmp_path: Path) -> None:
    folder = private_folder("kernels")
    assert folder == tmp_path / "home/.cache/hexsim/kernels"
    for made in (folder, *folder.parents[:3]):
        assert made.stat().st_mode & 0o777 == 0o700


def test_an_open_one_is_closed(tmp_path: Path) -> None:
    folder = private_folder("kernels")
    assert folder is not None
    folder.chmod(0o777)
    assert private_folder("kernels") == folder
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("mode", "usable"), [(0o777, False), (0o770, False), (0o1777, True), (0o755, True)]
)
def test_folders_above_that_others_can_write(tmp_path: Path, mode: int, usable: bool) -> None:
    folder = private_folder("kernels")
    assert folder is not None
    os.chown(folder.parent, -1, 1)  # a group that is not the user's own
    folder.parent.chmod(mode)
    assert (private_folder("kernels") is not None) == usable


@as_root
def test_another_user_s_folder_is_not_used() -> None:
    folder = private_folder("kernels")
    assert folder is not None
    os.chown(folder, 12345, 12345)
    assert private_folder("kernels") is None
    os.chown(folder, 0, 0)
    os.chown(folder.parent, 12345, 12345)
    assert private_folder("kernels") is None


def test_a_link_in_its_place_is_not_used(tmp_path: Path) -> None:
    folder = private_folder("kernels")
    assert folder is not None
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert private_folder("kernels") is None


def test_without_a_home_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "no/path")
    assert private_folder("kernels") is None
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("hexsim.files.private._home", lambda: "~")
    assert private_folder("kernels") is None
    assert list(tmp_path.iterdir()) == [], "nor a folder called ~"


@as_root
def test_a_folder_with_another_user_s_file_is_not_read(tmp_path: Path) -> None:
    folder = private_folder("kernels")
    assert folder is not None
    assert is_own(folder / "none yet")
    (folder / "one/two").mkdir(parents=True)
    (folder / "one/two/code.nbi").touch()
    assert is_own(folder / "one")
    os.chown(folder / "one/two/code.nbi", 12345, 12345)
    assert not is_own(folder / "one")


def test_a_link_in_a_folder_is_not_read(tmp_path: Path) -> None:
    folder = private_folder("kernels")
    assert folder is not None
    (folder / "code.nbi").symlink_to(tmp_path)
    assert not is_own(folder)
