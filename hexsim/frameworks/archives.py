"""ZIP archives of other frameworks, which every reader must take for the same files.

Python, Keras and PyTorch read ZIP archives by readers of their own. What one of them checks is what
another loads only if there is one way to read the file: it begins with its first entry and ends
with its directory, an entry has one name, and no two entries have names that differ in case alone.

A file may be two formats at once, since HDF5 may begin behind a block of anything. That is refused.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.texts.names import visible

HDF5 = b"\x89HDF\r\n\x1a\n"
_FIRST_BLOCK = 512
"""Bytes of the smallest block before an HDF5 file; others are twice as large, and so on.

Source: the file format specification of HDF5, version 3, II.A.
"""
_END = struct.Struct("<4s4H2IH")
"""Directory's end: mark, disk, its disk, entries here, entries, bytes, start, comment's bytes."""
_END_MARK = b"PK\x05\x06"
_LOCAL = struct.Struct("<4s22xHH")
_LOCAL_MARK = b"PK\x03\x04"
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(ValueError, RuntimeError),
)
"""What `zipfile` raises for damaged entries; RuntimeError for those that want a password."""
_REMEDY = "save it again with the program that made it"


def hdf5_starts(size: int) -> Iterator[int]:
    """Where an HDF5 file of so many bytes may begin."""
    yield 0
    start = _FIRST_BLOCK
    while start + len(HDF5) <= size:
        yield start
        start *= 2


def is_hdf5_alone(path: Path) -> bool:
    """True if the file at `path` is HDF5, False if it is a ZIP archive.

    Raises HexsimError if it is both, or an archive that is not read alike by all.
    """
    with path.open("rb") as file:
        is_archive = file.read(len(_LOCAL_MARK)) == _LOCAL_MARK
        is_hdf5 = bool(_marks(file, path.stat().st_size))
    if is_archive:
        require_plain_archive(path)
        return False
    if is_hdf5 and zipfile.is_zipfile(path):
        raise HexsimError(f"'{path}' is HDF5 and a ZIP archive at once; {_REMEDY}")
    return is_hdf5


@contextmanager
def reading_archive() -> Iterator[None]:
    """Raise InvalidDataError where `zipfile`, which alone is called in the block, fails."""
    try:
        yield
    except _UNREADABLE as error:
        raise InvalidDataError("it is damaged") from error


def require_plain_archive(path: Path) -> None:
    """Raise HexsimError unless all readers take the ZIP archive at `path` for the same files."""
    with path.open("rb") as file:
        try:
            with reading_archive():
                archive = zipfile.ZipFile(file)
            with archive:
                fault = _fault(file, archive, path.stat().st_size)
        except InvalidDataError as error:
            fault = str(error)
    if fault:
        raise HexsimError(f"'{path}' is no archive that all readers read alike: {fault}; {_REMEDY}")


def _fault(file: BinaryIO, archive: zipfile.ZipFile, size: int) -> str:
    file.seek(size - _END.size)
    mark, *_, start, comment = _END.unpack(file.read(_END.size))
    if mark != _END_MARK or comment or archive.comment:
        return "something follows its directory"
    if archive.start_dir != start and start != 0xFFFFFFFF:
        return "something stands before its first entry"
    names = [entry.filename for entry in archive.infolist()]
    if len({name.casefold() for name in names}) < len(names):
        return "two entries have one name"
    held = set()
    at = 0
    for entry in sorted(archive.infolist(), key=lambda one: one.header_offset):
        if entry.header_offset < at or (at == 0 and entry.header_offset):
            return f"entry '{visible(entry.filename)}' does not stand behind the one before it"
        file.seek(entry.header_offset)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size:
            raise InvalidDataError("it is damaged")
        local, name_bytes, extra_bytes = _LOCAL.unpack(header)
        name = file.read(name_bytes).decode("utf-8", "replace")
        if local != _LOCAL_MARK or name != entry.orig_filename or name != entry.filename:
            return f"entry '{visible(entry.filename)}' has two names"
        if PurePosixPath(name).is_absolute() or {"..", "\\"} & {*name.split("/"), *name}:
            return f"entry '{visible(name)}' lies outside it"
        begin = entry.header_offset + _LOCAL.size + name_bytes + extra_bytes
        held.add(begin)
        at = begin + entry.compress_size
    if at > archive.start_dir:
        return "its entries reach into its directory"
    if _marks(file, size) - held:
        return "it is HDF5 as well"
    return ""


def _marks(file: BinaryIO, size: int) -> set[int]:
    """Where HDF5 begins in a file."""
    found = set()
    for start in hdf5_starts(size):
        file.seek(start)
        if file.read(len(HDF5)) == HDF5:
            found.add(start)
    return found
