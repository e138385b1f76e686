"""The ZIP archive of a .dlc file, whose comment is a seal; no other layout of entries is read.

The comment has a fixed form. It contains the format version, the position of the weights, and the
SHA-256 of everything else: headers, network, metadata, directory and the comment up to the digest.
So a damaged file is recognised before its contents are used, without reading the weights, which
have digests of their own in the network's description.

The archive contains no times and no attributes of its writer: equal contents give equal bytes.

A ZIP directory may contain duplicate names, paths, links, data that inflates, or entries that
overlap. `read_entries` refuses every layout but that of our writer before it reads an entry.
"""

import hashlib
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.files.zip_faults import ZIP_FAULTS
from hexsim.records import dataclass, field
from hexsim.texts.text import visible

PARAMS, MODEL, METADATA = "model.params", "model", "dlc.metadata"
"""Entry names, those of the real container."""

HTA_PREFIX = "aip.hta."
"""The prefix of the names of entries that contain HTA sections."""
MEAN_PREFIX = "pictures.mean."
"""The prefix of the names of entries that contain the mean image of an input."""

_LOCAL_HEADER = struct.Struct("<26xHH")
_FILE_MODE = 0o100644
_OUR_MODES = (0o644, _FILE_MODE)


def read_entries(file: BinaryIO, start: int, end: int) -> dict[str, bytes]:
    """Return the entries by name, without the weights, which are the bytes [start, end).

    Raises InvalidDataError with the first deviation from the format, and `ZIP_FAULTS`
    (hexsim.files.zip_faults).
    """
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        names = [entry.filename for entry in entries]
        if names[:3] != [PARAMS, MODEL, METADATA] or len(set(names)) < len(names):
            raise InvalidDataError(f"its entries are {_listed(names)}")
        for name in names[3:]:
            if not name.startswith((HTA_PREFIX, MEAN_PREFIX)):
                raise InvalidDataError(f"it has the unknown entry '{visible(name[:60])}'")
        position = 0
        for entry in entries:
            if entry.header_offset != position:
                raise InvalidDataError(f"{_named(entry)} does not follow the one before it")
            data_start = _data_start(file, entry)
            _require_plain(entry)
            position = data_start + entry.file_size
            if entry.filename == PARAMS and (data_start, position) != (start, end):
                raise InvalidDataError(f"entry '{PARAMS}' is not where the seal says")
        if position != archive.start_dir:
            raise InvalidDataError("there are bytes between its entries and its directory")
        return {visible(name): archive.read(name) for name in names[1:]}


def _named(entry: zipfile.ZipInfo) -> str:
    return f"entry '{visible(entry.filename)}'"


def _data_start(file: BinaryIO, entry: zipfile.ZipInfo) -> int:
    file.seek(entry.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        raise InvalidDataError(f"{_named(entry)} begins behind the end of the file")
    name, extra = _LOCAL_HEADER.unpack(header)
    return entry.header_offset + int(_LOCAL_HEADER.size) + int(name) + int(extra)


def _require_plain(entry: zipfile.ZipInfo) -> None:
    """Raise InvalidDataError unless the entry is a plain file without compression."""
    is_stored = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
    if not is_stored or entry.flag_bits:
        raise InvalidDataError(f"{_named(entry)} is compressed, encrypted or flagged")
    if entry.external_attr >> 16 not in _OUR_MODES or entry.external_attr & 0xFFFF:
        raise InvalidDataError(f"{_named(entry)} is no plain file")


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(repr(name) for name in names[:4])
    return f"{text}, ..." if len(names) > 4 else text or "none"


VERSION = 3
"""The format version that is written, and the newest that is read."""

_SEAL = re.compile(rb"hexsim-dlc (\d{4}) params (\d{16}) (\d{16}) sha256 ([0-9a-f]{64})")
_SEAL_BYTES = 128
_DIGEST_BYTES = 64
_MOST_DESCRIPTION = 1 << 28
"""The most bytes besides the weights: no network has a description of 256 MiB."""

_QUALCOMM_PREFIX = b"\xd5\x0a"
_QUALCOMM_IDENTIFIER = b"NETD"


@dataclass(frozen=True)
class Archive:
    """An archive with a valid seal: its small entries, and the byte range of the weights.

    `records` are the HTA sections and the mean images by entry name.
    """

    path: Path
    model: bytes
    metadata: bytes
    params_start: int
    params_end: int
    records: Mapping[str, bytes] = field(default_factory=dict)


class ArchiveWriter:
    """An archive being written: first the `params`, then the entries that are `add`ed."""

    def __init__(self, file: BinaryIO, archive: zipfile.ZipFile) -> None:
        self._file = file
        self._zip = archive
        self.params_range = (0, 0)

    @contextmanager
    def params(self, size: int) -> Iterator[IO[bytes]]:
        """Yield a file for the weights, `size` bytes in all."""
        info = _entry(PARAMS)
        info.file_size = size
        with self._zip.open(info, "w") as stream:
            start = self._file.tell()
            yield stream
        self.params_range = (start, start + size)

    def add(self, name: str, data: bytes) -> None:
        """Add an entry."""
        self._zip.writestr(_entry(name), data)


@contextmanager
def create_archive(file: BinaryIO) -> Iterator[ArchiveWriter]:
    """Yield a writer of an archive in `file`, which is sealed when the block ends."""
    with zipfile.ZipFile(file, "w") as archive:
        writer = ArchiveWriter(file, archive)
        yield writer
        start, end = writer.params_range
        text = f"hexsim-dlc {VERSION:04} params {start:016} {end:016} sha256 {'0' * _DIGEST_BYTES}"
        archive.comment = text.encode("ascii")
    digest = _digest(file, start, end)
    file.seek(-_DIGEST_BYTES, os.SEEK_END)
    file.write(digest)


def open_archive(path: Path) -> Archive:
    """Open the archive at `path` and check its seal; no weight is read.

    Raises HexsimError if the file cannot be read, is truncated, altered, too new, no ZIP archive,
    or a DLC of the Qualcomm tools.
    """
    try:
        if stat.S_ISFIFO(path.stat().st_mode) or stat.S_ISCHR(path.stat().st_mode):
            raise HexsimError(f"cannot read '{path}': it is a pipe or a device; give a .dlc file")
        with path.open("rb") as file:
            return _open(path, file)
    except OSError as error:
        raise HexsimError(f"cannot read '{path}': {error.strerror or error}") from None


def _open(path: Path, file: BinaryIO) -> Archive:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _SEAL_BYTES))
    seal = _SEAL.fullmatch(file.read())
    if seal is None:
        raise HexsimError(f"'{path}' {_file_kind(file)}")
    version, start, end = (int(number) for number in seal.groups()[:3])
    if version > VERSION:
        raise HexsimError(
            f"'{path}' has the .dlc format {version}, this hexsim reads formats up to {VERSION}; "
            "update hexsim, or convert the model again"
        )
    if size - (end - start) > _MOST_DESCRIPTION:
        raise HexsimError(
            f"'{path}' has {size - (end - start)} bytes besides its weights, too many for a "
            "description; convert the model again"
        )
    if not start <= end <= size - _SEAL_BYTES or _digest(file, start, end) != seal.group(4):
        raise HexsimError(f"'{path}' is truncated or was altered; convert the model again")
    try:
        entries = read_entries(file, start, end)
    except OSError:  # of the file itself, as no entry is compressed
        raise
    except ZIP_FAULTS as error:
        raise HexsimError(
            f"'{path}' is no archive that hexsim wrote: {error}; convert the model again"
        ) from None
    return Archive(path, entries.pop(MODEL), entries.pop(METADATA), start, end, entries)


def _digest(file: BinaryIO, start: int, end: int) -> bytes:
    """Return the hexadecimal SHA-256 of the file without bytes [start, end) and the last digest."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    digest = hashlib.sha256(file.read(start))
    file.seek(end)
    digest.update(file.read(size - _DIGEST_BYTES - end))
    return digest.hexdigest().encode("ascii")


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # dated 1980-01-01, stored without compression
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info


def _file_kind(file: BinaryIO) -> str:
    """Return what a file without a seal is, and what to do."""
    file.seek(0)
    head = file.read(2)
    if head == _QUALCOMM_PREFIX or _holds_qualcomm_model(file):
        return "is a DLC of the Qualcomm tools, which hexsim does not read; convert the ONNX file"
    if head != b"PK":
        return "is no .dlc file (it is not a ZIP archive); convert an ONNX file to get one"
    return "is truncated, altered, or no archive that hexsim wrote; convert the model again"


def _holds_qualcomm_model(file: BinaryIO) -> bool:
    """Return whether this is a ZIP archive with a FlatBuffer network, with or without prefix."""
    try:
        with zipfile.ZipFile(file) as archive:
            if MODEL not in archive.namelist():
                return False
            with archive.open(MODEL) as entry:
                start = entry.read(16)
    except ZIP_FAULTS:
        return False
    return start.startswith(_QUALCOMM_PREFIX) or start[4:8] == _QUALCOMM_IDENTIFIER
