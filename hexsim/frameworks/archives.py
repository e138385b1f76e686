"""Checks that every program reads a ZIP archive of another framework as the same files.

Python, Keras and PyTorch each have their own reader of ZIP archives. A check by one of them holds
for the others only if the file can be read in one way: it begins with its first entry and ends
with its directory, an entry has one name, and no two names differ only in case.

A file may have two formats at once, since HDF5 may begin after a block of any other data. Such a
file is refused.
"""

import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.files.zip_faults import ZIP_FAULTS
from hexsim.texts.text import visible

HDF5 = b"\x89HDF\r\n\x1a\n"
_FIRST_BLOCK = 512
"""Bytes of the smallest block before HDF5 data; the next sizes are twice as large each.

Source: the file format specification of HDF5, version 3, II.A.
"""
_END = struct.Struct("<4s4H2IH")
"""End of the directory: mark, disk, disk of the directory, entries on this disk, all entries,
bytes of the directory, its start, bytes of the comment."""
_END_MARK = b"PK\x05\x06"
_LOCAL = struct.Struct("<4s22xHH")
_LOCAL_MARK = b"PK\x03\x04"
_REMEDY = "save it again with the program that made it"


def hdf5_starts(size: int) -> Iterator[int]:
    """Yield the offsets at which HDF5 data may begin in a file of `size` bytes."""
    yield 0
    start = _FIRST_BLOCK
    while start + len(HDF5) <= size:
        yield start
        start *= 2


def is_hdf5_alone(path: Path) -> bool:
    """True if the file at `path` is HDF5, False if it is a ZIP archive.

    Raises HexsimError if it is both, or if programs may read the archive differently.
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
    """Turn errors of `zipfile` into InvalidDataError; the block must call nothing else."""
    try:
        yield
    except ZIP_FAULTS as error:
        raise InvalidDataError("it is damaged") from error


def require_plain_archive(path: Path) -> None:
    """Raise HexsimError unless all programs read the ZIP archive at `path` as the same files."""
    with path.open("rb") as file:
        try:
            with reading_archive():
                archive = zipfile.ZipFile(file)
            with archive:
                fault = _fault(file, archive, path.stat().st_size)
        except InvalidDataError as error:
            fault = str(error)
    if fault:
        raise HexsimError(f"programs may read the archive '{path}' differently: {fault}; {_REMEDY}")


def _fault(file: BinaryIO, archive: zipfile.ZipFile, size: int) -> str:
    file.seek(size - _END.size)
    mark, *_, start, comment = _END.unpack(file.read(_END.size))
    if mark != _END_MARK or comment or archive.comment:
        return "there is data after its directory"
    if archive.start_dir != start and start != 0xFFFFFFFF:
        return "there is data before its first entry"
    names = [entry.filename for entry in archive.infolist()]
    if len({name.casefold() for name in names}) < len(names):
        return "two entries have one name"
    starts = set()
    position = 0
    for entry in sorted(archive.infolist(), key=lambda info: info.header_offset):
        if entry.header_offset < position or (position == 0 and entry.header_offset):
            return f"entry '{visible(entry.filename)}' overlaps the entry before it"
        if entry.header_offset > size - _LOCAL.size:  # some positions cannot even be sought
            raise InvalidDataError("it is damaged")
        file.seek(entry.header_offset)
        header = file.read(_LOCAL.size)
        local, name_bytes, extra_bytes = _LOCAL.unpack(header)
        name = file.read(name_bytes).decode("utf-8", "replace")
        if local != _LOCAL_MARK or name != entry.orig_filename or name != entry.filename:
            return f"entry '{visible(entry.filename)}' has two names"
        if PurePosixPath(name).is_absolute() or {"..", "\\"} & {*name.split("/"), *name}:
            return f"entry '{visible(name)}' lies outside it"
        begin = entry.header_offset + _LOCAL.size + name_bytes + extra_bytes
        starts.add(begin)
        position = begin + entry.compress_size
    if position > archive.start_dir:
        return "its entries overlap its directory"
    if _marks(file, size) - starts:
        return "it is HDF5 as well"
    return ""


def _marks(file: BinaryIO, size: int) -> set[int]:
    """Return the offsets at which HDF5 data begins in a file."""
    offsets = set()
    for start in hdf5_starts(size):
        file.seek(start)
        if file.read(len(HDF5)) == HDF5:
            offsets.add(start)
    return offsets
