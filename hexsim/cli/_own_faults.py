"""Reports a fault of the program itself: one sentence, and a file with the traceback.

The exit code is that of an internal software error in sysexits.h. The file is new, in the system's
temporary folder, and only the user can read it. If it cannot be written, the traceback is printed
after the sentence.
"""

import os
import platform
import tempfile
import traceback

from hexsim import __version__
from hexsim.cli._say import command_line

EXIT_CODE = 70
"""EX_SOFTWARE."""


def described(error: BaseException) -> tuple[str, str]:
    """Write the traceback of `error`; return a sentence, and text to print after it."""
    kind, trace = type(error).__name__, "".join(traceback.format_exception(error))
    what = f"a fault of hexsim, not of what it was given ({kind})"
    try:
        place = _written(trace)
    except OSError as unwritten:
        why = unwritten.strerror
        return f"{what}; report it with the traceback below, as no file can have it ({why})", trace
    return f"{what}; report it with its traceback, which is in '{place}'", ""


def _written(trace: str) -> str:
    """Write a new file that only the user can read, and return its path."""
    handle, place = tempfile.mkstemp(prefix="hexsim-fault-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"hexsim {__version__}, Python {platform.python_version()}, ")
        file.write(f"{platform.platform()}\n{command_line()}\n\n{trace}")
    return place
