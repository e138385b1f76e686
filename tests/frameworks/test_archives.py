"""A file is taken for one thing by every reader, or refused."""

import io
import struct
import zipfile
from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.frameworks.archives import HDF5, is_hdf5_alone, require_plain_archive
from hexsim.frameworks.file_kinds import framework_of


def archive(*entries: tuple[str, bytes], comment: bytes = b"", stored: bool = True) -> bytes:
    held = io.BytesIO()
    method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(held, "w", method) as made:
        made.comment = comment
        for name, data in entries:
            made.writestr(zipfile.ZipInfo(name), data, method)
    return held.getvalue()


KERAS = archive(("config.json", b"{}"), ("model.weights.h5", HDF5 + bytes(3000)))


@pytest.mark.parametrize("block", [0, 512, 1024, 4096])
def test_hdf5_may_stand_behind_a_block(block: int, tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"x" * block + HDF5 + bytes(5000))
    assert framework_of(path) == "keras"
    assert is_hdf5_alone(path)


@pytest.mark.parametrize("block", [0, 512, 2048])
@pytest.mark.parametrize("comment", [b"", b"x" * 60_000])
def test_hdf5_with_an_archive_behind_it_is_refused(
    block: int, comment: bytes, tmp_path: Path
) -> None:
    """Keras would read the one, and whoever asks Python for an archive the other."""
    path = tmp_path / "m.h5"
    path.write_bytes(
        b"x" * block + HDF5 + bytes(5000) + archive(("config.json", b"{}"), comment=comment)
    )
    assert zipfile.is_zipfile(path)
    with pytest.raises(
        HexsimError, match=r"m.h5' is HDF5 and a ZIP archive at once; save it again"
    ):
        is_hdf5_alone(path)


def test_an_archive_is_one_that_begins_and_ends_as_such(tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    for stored in (True, False):
        path.write_bytes(archive(("a/b", b"1" * 99), ("c", b""), stored=stored))
        assert not is_hdf5_alone(path)
    path.write_bytes(KERAS)
    assert framework_of(path) == "keras"
    assert not is_hdf5_alone(path)


def test_hdf5_as_an_entry_may_happen_to_begin_where_a_file_may(tmp_path: Path) -> None:
    filler = 1024 - 2 * 30 - len("config.json") - len("model.weights.h5")
    data = archive(("config.json", b" " * filler), ("model.weights.h5", HDF5 + bytes(9)))
    assert data[1024:1032] == HDF5
    (tmp_path / "m.keras").write_bytes(data)
    assert not is_hdf5_alone(tmp_path / "m.keras")


def _renamed(data: bytes) -> bytes:
    """Another name in front of an entry than in the directory."""
    return data.replace(b"config.json", b"CONFIG.json", 1)


def _short_end(data: bytes) -> bytes:
    """A directory that says it begins elsewhere."""
    return data[:-6] + struct.pack("<I", 0) + data[-2:]


HOSTILE = {
    "there is data before its first entry": b"PK\x03\x04" + KERAS,
    "there is data after its directory": KERAS + b"x",
    "two archives": KERAS + archive(("config.json", b"[]")),
    "there is data after its directory ": archive(("a", b""), comment=b"x"),
    "two entries have one name": archive(("models/m.json", b"1"), ("Models/m.json", b"2")),
    "has two names": _renamed(KERAS),
    "lies outside it": archive(("../m.json", b"1")),
    "lies outside it ": archive(("/m.json", b"1")),
    "it is HDF5 as well": archive(("a", bytes(512 - 31) + HDF5 + bytes(999))),
    "before its first entry": _short_end(KERAS),
    "it is damaged": KERAS[:-30],
}


@pytest.mark.parametrize("words", HOSTILE)
def test_an_archive_that_readers_may_take_for_different_things_is_refused(
    words: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.pt2"
    path.write_bytes(HOSTILE[words])
    said = "" if words == "two archives" else words.strip()
    with pytest.raises(HexsimError, match=f"programs may read the archive .* .*{said}"):
        require_plain_archive(path)


@pytest.mark.parametrize("position", [2**40, 2**63 - 1, 2**63, 2**64 - 1])
def test_an_entry_at_a_position_that_no_file_has_is_damaged(position: int, tmp_path: Path) -> None:
    """The operating system, and Python, refuse to seek some of them."""
    data = archive(("a", b"1"), ("b", b"2"))
    start = data.rindex(b"PK\1\2")
    extra = struct.pack("<HHQ", 1, 8, position)
    entry = bytearray(data[start : start + 47])
    entry[30:32], entry[42:46] = struct.pack("<H", len(extra)), b"\xff" * 4
    end = bytearray(data[-22:])
    end[12:16] = struct.pack("<I", struct.unpack("<I", end[12:16])[0] + len(extra))
    (tmp_path / "m").write_bytes(data[:start] + entry + extra + end)
    with pytest.raises(HexsimError, match="it is damaged; save it again"):
        require_plain_archive(tmp_path / "m")
