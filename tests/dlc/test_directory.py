"""A ZIP directory is believed only if it is laid out as the writer lays it out."""

from __future__ import annotations

import hashlib
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.dlc.directory import METADATA, MODEL, PARAMS
from hexsim.errors import HexsimError
from hexsim.quantization.model import Model
from tests.dlc.made import small_network


def _resealed(path: Path, change: Callable[[list[zipfile.ZipInfo]], None], shift: int = 0) -> None:
    """Write the entries of `path` again as `change` has them, with a seal that is right.

    `shift` moves the weights in the seal.
    """
    with zipfile.ZipFile(path) as archive:
        data = {name: archive.read(name) for name in archive.namelist()}
    entries = []
    for name in data:
        entries.append(zipfile.ZipInfo(name))
        entries[-1].external_attr = 0o644 << 16
    change(entries)
    with (
        warnings.catch_warnings(),
        path.open("w+b") as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        warnings.simplefilter("ignore")  # a name that is there twice
        start = end = 0
        for info in entries:
            archive.writestr(info, data.get(info.filename, b""), info.compress_type)
            if info.filename == PARAMS:
                end = file.tell()
                start = end - len(data[PARAMS])
        start, end = start + shift, end + shift
        seal = f"hexsim-dlc 0003 params {start:016} {end:016} sha256 {'0' * 64}"
        archive.comment = seal.encode()
    content = path.read_bytes()[:-64]
    digest = hashlib.sha256(content[:start] + content[end:]).hexdigest()
    path.write_bytes(content + digest.encode())


def _compressed(entries: list[zipfile.ZipInfo]) -> None:
    entries[1].compress_type = zipfile.ZIP_DEFLATED


def _linked(entries: list[zipfile.ZipInfo]) -> None:
    entries[2].external_attr = 0o120777 << 16


def _twice(entries: list[zipfile.ZipInfo]) -> None:
    entries.append(entries[1])


def _other_order(entries: list[zipfile.ZipInfo]) -> None:
    entries.reverse()


def _missing(entries: list[zipfile.ZipInfo]) -> None:
    del entries[2]


def _outside(entries: list[zipfile.ZipInfo]) -> None:
    entries.append(zipfile.ZipInfo("../../x"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    dlc.write(tmp_path / "m.dlc", Model(small_network()))
    return tmp_path / "m.dlc"


def test_what_is_written_again_as_it_was_is_read(path: Path) -> None:
    _resealed(path, lambda entries: None)
    assert dlc.read(path).model.network.name == small_network().name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_compressed, f"entry '{MODEL}' is compressed"),
        (_linked, f"entry '{METADATA}' is no plain file"),
        (_twice, "its entries are 'model.params', 'model', 'dlc.metadata', 'model'"),
        (_other_order, "its entries are 'dlc.metadata'"),
        (_missing, "its entries are 'model.params', 'model'"),
        (_outside, "the unknown entry '../../x'"),
    ],
)
def test_a_directory_of_another_kind_is_refused(
    path: Path, change: Callable[[list[zipfile.ZipInfo]], None], words: str
) -> None:
    _resealed(path, change)
    with pytest.raises(HexsimError) as caught:
        dlc.read(path)
    assert words in str(caught.value)


def test_a_seal_with_the_weights_elsewhere_is_refused(path: Path) -> None:
    _resealed(path, lambda entries: None, shift=8)
    with pytest.raises(HexsimError, match="is not where the seal says"):
        dlc.read(path)


def test_a_file_with_bytes_between_its_parts_is_refused(path: Path) -> None:
    data = path.read_bytes()
    at = data.rindex(b"PK\x05\x06")
    directory = int.from_bytes(data[at + 16 : at + 20], "little")
    end = data[at : at + 16] + (directory + 8).to_bytes(4, "little") + data[at + 20 :]
    forged = data[:directory] + bytes(8) + data[directory:at] + end[:-64]
    start, stop = (int(number) for number in data[-128:].split()[3:5])
    digest = hashlib.sha256(forged[:start] + forged[stop:]).hexdigest()
    path.write_bytes(forged + digest.encode())
    with pytest.raises(HexsimError, match="bytes between its entries and its directory"):
        dlc.read(path)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:

    os.mkfifo(tmp_path / "m.dlc")
    with pytest.raises(HexsimError, match="pipe or a device"):
        dlc.read(tmp_path / "m.dlc")
