"""Pipes, sockets and devices are refused before anybody waits for them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.files.places import require_ordinary


def test_only_what_ends_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    (tmp_path / "link").symlink_to("pipe")
    for name, kind in (("pipe", "a pipe"), ("link", "a pipe"), ("socket", "a socket")):
        with pytest.raises(HexsimError, match=f"'{name}' is {kind}, no ordinary file"):
            require_ordinary(name)
    with pytest.raises(HexsimError, match="a device"):
        require_ordinary("/dev/zero")


def test_files_pass_and_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", ".", "none", "a\0b", "n" * 300):
        require_ordinary(tmp_path / name)
