"""Where compiled kernels are kept between runs.

The folder's name holds a hash of the source of this package. Numba checks only the file that
defines a kernel, so a change in a helper it inlines would otherwise leave a stale kernel in use.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path


@cache
def kernel_cache() -> Path | None:
    """Return the folder for compiled kernels, made if needed, or None if none can be written.

    It lies in $HEXSIM_CACHE_DIR, else $XDG_CACHE_HOME/hexsim, else ~/.cache/hexsim.
    """
    folder = _cache_root() / f"kernels-{_source_hash()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


def _cache_root() -> Path:
    own = os.environ.get("HEXSIM_CACHE_DIR")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path(os.path.expanduser("~")) / ".cache") / "hexsim"


def _source_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
