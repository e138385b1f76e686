"""Other Python processes, which import nothing from the folder where the user happens to be.

Python looks for modules in the current folder first where it runs a module or words (`-m`, `-c`).
So whoever puts a `requests.py` into a shared folder would have it run by all who work there. A
process that is started from here is isolated (`-I`): variables such as PYTHONPATH do not count, and
it looks where this process looks, without the current folder.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

_BEGIN = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
module = sys.argv[2] == "-m"
del sys.argv[: 3 if module else 2]
import runpy
if module:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""The first words of such a process: its path, and then what to run with which arguments."""

_OWN = Path(__file__).resolve().parents[1]
"""The folder of this package, whose code runs already, wherever it lies."""

_CACHE = "HEXSIM_CACHE_DIR"
"""The one variable of ours that names a folder, which may be named from the current one."""


def python(*words: str) -> list[str]:
    """The command line that runs `words`, a module (behind "-m") or a file with its arguments.

    The command line may run anywhere; names of files in it should be whole.
    """
    return [sys.executable, "-I", "-c", _BEGIN, json.dumps(search_path()), *words]


def search_path() -> list[str]:
    """Where this process looks for modules, without the current folder and what is named from it.

    A current folder from which hexsim itself was imported stays, and so does hexsim.
    """
    kept = [entry for entry in sys.path if os.path.isabs(entry) and not _is_current(entry)]
    return kept if str(_OWN) in kept else [*kept, str(_OWN)]


def environment(**more: str) -> dict[str, str]:
    """The variables for a process that works in another folder, with some `more`."""
    found = {**os.environ, **more}
    if found.get(_CACHE):
        found[_CACHE] = os.path.abspath(found[_CACHE])
    return found


def _is_current(entry: str) -> bool:
    try:
        return os.path.samefile(entry, os.curdir) and not os.path.samefile(entry, _OWN)
    except OSError:  # no such folder, or a current one that is gone
        return False
