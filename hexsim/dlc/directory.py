"""Reads the entries of a .dlc archive, which must be exactly those of the format, without gaps.

A ZIP directory may contain duplicate names, paths, links, data that inflates, or entries that
overlap. `read_entries` refuses every layout but that of our writer before it reads an entry.
"""

import struct
import zipfile
from collections.abc import Sequence
from typing import BinaryIO

from hexsim.errors import InvalidDataError
from hexsim.texts.names import visible

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
