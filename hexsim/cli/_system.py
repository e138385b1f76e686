"""One sentence for each resource that the operating system refuses.

Some libraries end the process themselves if memory is short. So a limit below their need is
reported at the start.
"""

import errno
import io
import os
import resource
import sys

LEAST_BYTES = 1 << 30
"""Address space that every command needs; with less, some libraries hang instead of failing."""

_SHORT = "there is not enough memory; allow more (ulimit -v), or give smaller inputs"
_NO_THREAD = "no thread can be started; allow more threads (ulimit -u) or memory (ulimit -v)"
_NO_FILE = "too many files are open at once; allow more (ulimit -n)"
_NO_FILE_ERRORS = (errno.EMFILE, errno.ENFILE)


def short_of_memory() -> str | None:
    """Return a sentence if the limit on address space is too low to start."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_BYTES:
        return None
    return (
        f"the limit on memory is {limit >> 20} MB, and hexsim needs {LEAST_BYTES >> 20} MB at "
        "least; raise it (ulimit -v)"
    )


def open_what_was_closed() -> None:
    """Open closed standard streams (`>&-`), so that files opened later do not take their place."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout = sys.stdout or io.TextIOWrapper(io.FileIO(os.devnull, "w"), "utf-8")
    sys.stderr = sys.stderr or io.TextIOWrapper(io.FileIO(os.devnull, "w"), "utf-8")


def of_the_system(error: Exception) -> str | None:
    """Return what the system refused; None for a fault of the program itself."""
    lines = str(error).strip().splitlines() or [""]
    if isinstance(error, MemoryError) or "failed to map segment" in lines[-1]:
        return _SHORT
    if is_out_of_files(error):
        return _NO_FILE
    if isinstance(error, ImportError):
        return f"a part of the program cannot be loaded: {lines[-1]}; install hexsim again"
    if isinstance(error, RuntimeError):
        return _NO_THREAD if "can't start new thread" in lines[-1] else None
    return _refused(error, lines[0]) if isinstance(error, OSError) else None


def is_out_of_files(error: Exception) -> bool:
    """Return True if a file, or a library, cannot be opened because too many files are open."""
    if isinstance(error, OSError):
        return error.errno in _NO_FILE_ERRORS
    return isinstance(error, ImportError) and os.strerror(errno.EMFILE) in str(error)


def _refused(error: OSError, text: str) -> str:
    why = error.strerror or text
    if error.errno is None:
        return f"a part of the program cannot be loaded: {text}; allow more memory (ulimit -v)"
    if error.errno == errno.ENOMEM:
        return _SHORT
    if error.filename is not None:
        return f"'{os.fsdecode(error.filename)}' cannot be used: {why}"
    if error.errno == errno.EAGAIN:
        return f"the system refuses more: {why}; raise its limits (ulimit -a)"
    return f"cannot print the report: {why}; send it elsewhere"
