"""The exceptions that `zipfile` raises for archives that are damaged, or of other programs."""

import importlib
import lzma
import zipfile
import zlib


def _zstandard() -> tuple[type[Exception], ...]:
    """Return the exception for damaged data of Zstandard, which Python reads since 3.14."""
    try:
        return (importlib.import_module("compression.zstd").ZstdError,)
    except ImportError:
        return ()


ZIP_FAULTS: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,  # a mark, a size or a checksum that is wrong
    RuntimeError,  # a password; NotImplementedError for methods and versions that Python lacks
    ValueError,  # a name that is no UTF-8, a position that no file has
    EOFError,  # data that end too early
    OSError,  # damaged data of bzip2; and the file itself cannot be read
    zlib.error,
    lzma.LZMAError,
)
"""All of them; a name that is missing raises KeyError."""

ZIP_FAULTS += _zstandard()
