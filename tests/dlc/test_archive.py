"""The sealed ZIP archive: looks like the real one, is refused when anything in it changed.

A ZIP directory is believed only if it is laid out as the writer lays it out.
"""

from __future__ import annotations

import hashlib
import os
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim import dlc
from hexsim.dlc.archive import METADATA, MODEL, PARAMS, create_archive, open_archive
from hexsim.errors import HexsimError
from hexsim.quantization.model import Model
from tests.dlc.made import small_network
from tests.thorough import examples

PAYLOAD = b"weights" * 9


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "m.dlc"
    _write(target)
    return target


def _write(path: Path) -> None:
    with path.open("w+b") as file, create_archive(file) as archive:
        with archive.params(len(PAYLOAD)) as stream:
            stream.write(PAYLOAD[:5])
            stream.write(PAYLOAD[5:])
        archive.add(MODEL, b'{"name": "net"}')
        archive.add(METADATA, b"model-version=1\n")


def test_contents_come_back(path: Path) -> None:
    archive = open_archive(path)
    assert (archive.model, archive.metadata) == (b'{"name": "net"}', b"model-version=1\n")
    assert path.read_bytes()[archive.params_start : archive.params_end] == PAYLOAD


def test_any_zip_program_can_look_inside(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [PARAMS, MODEL, METADATA]
        assert archive.testzip() is None
        assert archive.comment.startswith(b"hexsim-dlc 0003 params ")


def test_the_digest_is_the_documented_one(path: Path) -> None:
    data, archive = path.read_bytes(), open_archive(path)
    outside = data[: archive.params_start] + data[archive.params_end : -64]
    assert data[-64:].decode() == hashlib.sha256(outside).hexdigest()


def test_equal_contents_give_equal_bytes(path: Path, tmp_path: Path) -> None:
    _write(tmp_path / "again.dlc")
    assert (tmp_path / "again.dlc").read_bytes() == path.read_bytes()


def test_every_truncation_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    cut = tmp_path / "cut.dlc"
    for size in range(len(data)):
        cut.write_bytes(data[:size])
        with pytest.raises(HexsimError, match=r"truncated|not a ZIP"):
            open_archive(cut)


def test_every_altered_byte_outside_the_weights_is_refused(path: Path, tmp_path: Path) -> None:
    data, archive = path.read_bytes(), open_archive(path)
    bad = tmp_path / "bad.dlc"
    for at in range(len(data)):
        if archive.params_start <= at < archive.params_end:
            continue
        for flip in (0x01, 0x80, 0xFF):
            bad.write_bytes(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
            with pytest.raises(HexsimError, match=r"altered|not a ZIP|\.dlc format"):
                open_archive(bad)


@examples(50)
@given(before=st.binary(max_size=9), after=st.binary(max_size=9))
def test_bytes_added_at_either_end_are_refused(
    before: bytes, after: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("added") / "m.dlc"
    _write(path)
    path.write_bytes(before + path.read_bytes() + after)
    if before or after:
        with pytest.raises(HexsimError, match=r"altered|not a ZIP|Qualcomm"):
            open_archive(path)


def test_a_newer_format_is_named(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"hexsim-dlc 0003", b"hexsim-dlc 0004"))
    with pytest.raises(HexsimError, match=r"format 4, this hexsim reads formats up to 3; update"):
        open_archive(path)


@pytest.mark.parametrize(
    "model",
    [b"\xd5\x0a\x03\0\0\0\0\0\x10\0\0\0NETD....", b"\x10\0\0\0NETD........"],
    ids=["prefix", "identifier"],
)
def test_a_real_dlc_is_recognised(model: bytes, tmp_path: Path) -> None:
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(tmp_path / "real.dlc", "w", compression) as archive:
            archive.writestr("dlc.metadata", "converter-version=1.54\n")
            archive.writestr("model", model)
        with pytest.raises(HexsimError, match="Qualcomm"):
            open_archive(tmp_path / "real.dlc")


def test_an_old_real_dlc_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "v2.dlc").write_bytes(b"\xd5\x0a\x02\0" + bytes(400))
    with pytest.raises(HexsimError, match="Qualcomm"):
        open_archive(tmp_path / "v2.dlc")


def test_another_zip_with_any_byte_altered_never_breaks_the_reader(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model", b"abc" * 20)
    data = (tmp_path / "z.zip").read_bytes()
    for at in range(len(data)):
        for flip in (0x01, 0x10, 0x80, 0xFF):
            bad = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
            (tmp_path / "bad.dlc").write_bytes(bad)
            with pytest.raises(HexsimError, match=r"no archive that hexsim wrote|not a ZIP"):
                open_archive(tmp_path / "bad.dlc")


@pytest.mark.parametrize("data", [b"", b"P", b"\x08\x07 an ONNX file", bytes(300)])
def test_what_is_no_zip_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.dlc").write_bytes(data)
    with pytest.raises(HexsimError, match="not a ZIP"):
        open_archive(tmp_path / "x.dlc")


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"cannot read .*No such file"):
        open_archive(tmp_path / "none.dlc")
    with pytest.raises(HexsimError, match=r"cannot read .*directory"):
        open_archive(tmp_path)


@pytest.mark.parametrize("method", [8, 12, 14, 93, 99])
@pytest.mark.parametrize("flags", [0, 1, 0x20, 0x40])
def test_an_archive_of_others_whose_data_are_damaged_is_no_dlc(
    method: int, flags: int, tmp_path: Path
) -> None:
    """Methods raise their own exceptions: deflate, bzip2, LZMA, Zstandard; one is unknown."""
    data = b"\x09\x04\x05\x00" + b"\xff" * 10
    common = struct.pack("<3H2H3I2H", 20, flags, method, 0, 33, 0, len(data), len(data), 5, 0)
    local = b"PK\3\4" + common + b"model" + data
    directory = b"PK\1\2\x14\0" + common + bytes(14) + b"model"
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(directory), len(local), 0)
    (tmp_path / "m.dlc").write_bytes(local + directory + end)
    with zipfile.ZipFile(tmp_path / "m.dlc") as archive:
        assert archive.namelist() == ["model"]
    with pytest.raises(HexsimError, match="or no archive that hexsim wrote; convert"):
        open_archive(tmp_path / "m.dlc")


def _resealed(
    written: Path, change: Callable[[list[zipfile.ZipInfo]], None], shift: int = 0
) -> None:
    """Write the entries of `path` again as `change` has them, with a seal that is right.

    `shift` moves the weights in the seal.
    """
    with zipfile.ZipFile(written) as archive:
        data = {name: archive.read(name) for name in archive.namelist()}
    entries = []
    for name in data:
        entries.append(zipfile.ZipInfo(name))
        entries[-1].external_attr = 0o644 << 16
    change(entries)
    with (
        warnings.catch_warnings(),
        written.open("w+b") as file,
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
    content = written.read_bytes()[:-64]
    digest = hashlib.sha256(content[:start] + content[end:]).hexdigest()
    written.write_bytes(content + digest.encode())


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
def written(tmp_path: Path) -> Path:
    dlc.write(tmp_path / "m.dlc", Model(small_network()))
    return tmp_path / "m.dlc"


def test_what_is_written_again_as_it_was_is_read(written: Path) -> None:
    _resealed(written, lambda entries: None)
    assert dlc.read(written).model.network.name == small_network().name


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
    written: Path, change: Callable[[list[zipfile.ZipInfo]], None], words: str
) -> None:
    _resealed(written, change)
    with pytest.raises(HexsimError) as caught:
        dlc.read(written)
    assert words in str(caught.value)


def test_a_seal_with_the_weights_elsewhere_is_refused(written: Path) -> None:
    _resealed(written, lambda entries: None, shift=8)
    with pytest.raises(HexsimError, match="is not where the seal says"):
        dlc.read(written)


def test_a_file_with_bytes_between_its_parts_is_refused(written: Path) -> None:
    data = written.read_bytes()
    at = data.rindex(b"PK\x05\x06")
    directory = int.from_bytes(data[at + 16 : at + 20], "little")
    end = data[at : at + 16] + (directory + 8).to_bytes(4, "little") + data[at + 20 :]
    forged = data[:directory] + bytes(8) + data[directory:at] + end[:-64]
    start, stop = (int(number) for number in data[-128:].split()[3:5])
    digest = hashlib.sha256(forged[:start] + forged[stop:]).hexdigest()
    written.write_bytes(forged + digest.encode())
    with pytest.raises(HexsimError, match="bytes between its entries and its directory"):
        dlc.read(written)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:

    os.mkfifo(tmp_path / "m.dlc")
    with pytest.raises(HexsimError, match="pipe or a device"):
        dlc.read(tmp_path / "m.dlc")
