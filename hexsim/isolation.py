"""Keeps the user's current folder out of what libraries and other Python processes read.

With `-m` and `-c` Python looks for modules in the current folder first. So a `requests.py` in a
shared folder would be run by all who work there. Processes started from here are isolated (`-I`):
variables such as PYTHONPATH are ignored, and the search path is that of this process without the
current folder. Warnings of libraries are not for users, and such a process prints none.

Some libraries obey a file of settings in the current folder when they are imported: matplotlib a
`matplotlibrc`, numba a `.numba_config.yaml`. They are imported with another current folder.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BEGIN = """\
import json, sys, warnings
warnings.simplefilter("ignore")
sys.path[:] = json.loads(sys.argv[1])
module = sys.argv[2] == "-m"
del sys.argv[: 3 if module else 2]
import runpy
if module:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""The code that such a process runs first; it sets the search path and runs its arguments."""

_OWN = Path(__file__).resolve().parents[1]
"""The folder of this package, which is trusted, as its code is running already."""

_CACHE = "HEXSIM_CACHE_DIR"
"""Our only variable with the path of a folder, which may be relative."""


@contextmanager
def own_folder(library: str) -> Iterator[None]:
    """Make the folder of this package the current one, unless `library` is imported already.

    The current folder is one of all threads, so the block should import `library` and no more.
    """
    try:
        before = None if library in sys.modules else os.getcwd()
    except OSError:  # the current folder is gone, and so is what is in it
        before = None
    if before is None:
        yield
        return
    os.chdir(_OWN)
    try:
        yield
    finally:
        os.chdir(before)


def python(*words: str) -> list[str]:
    """Return the command line that runs `words`, a module (after "-m") or a file with arguments.

    The command line may run in any folder; paths in it should be absolute.
    """
    return [sys.executable, "-I", "-c", _BEGIN, json.dumps(search_path()), *words]


def search_path() -> list[str]:
    """Return the search path of this process without the current folder and relative paths.

    The folder of hexsim is always in it, even if it is the current one.
    """
    entries = [entry for entry in sys.path if os.path.isabs(entry) and not _is_current(entry)]
    return entries if str(_OWN) in entries else [*entries, str(_OWN)]


def environment(**more: str) -> dict[str, str]:
    """Return the environment for a process in another folder, with some `more` variables."""
    variables = {**os.environ, **more}
    if variables.get(_CACHE):
        variables[_CACHE] = os.path.abspath(variables[_CACHE])
    return variables


def _is_current(entry: str) -> bool:
    try:
        return os.path.samefile(entry, os.curdir) and not os.path.samefile(entry, _OWN)
    except OSError:  # no such folder, or a current one that is gone
        return False
