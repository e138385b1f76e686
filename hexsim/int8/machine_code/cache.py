"""The folder in which compiled kernels, and what was measured with them, are cached between runs.

The folder's name holds a hash of the source of this package, of numba's version, and of the CPU and
those of its features that kernels are compiled for. Numba checks only the file that defines a
kernel, so a change in a function that the kernel inlines would otherwise leave a stale kernel in
use.

In it each signature has a folder of its own. Numba's index numbers the signatures of a function and
the targets it is compiled for, and two processes that add one at the same moment give both the same
number: the code of one is then loaded for the other, until the folder is deleted. With one
signature and one target in each folder there is nothing to number, and the process that writes last
writes the same.

Numba runs the code that it finds there, so the folder is one that nobody else can write.
"""

import hashlib
from functools import cache
from pathlib import Path

import numba

from hexsim.files.private import is_own, private_folder
from hexsim.int8.machine_code.features import compiled_for

_PACKAGE = Path(__file__).parents[1]
"""All of hexsim.int8."""


def kernel_cache(signature: str) -> Path | None:
    """Return the folder for compiled kernels of that signature, or None if none can be trusted."""
    folder = cache_folder()
    if folder is None:
        return None
    signature_folder = folder / hashlib.sha256(signature.encode()).hexdigest()[:16]
    return signature_folder if is_own(signature_folder) else None


@cache
def cache_folder() -> Path | None:
    """Return the folder of everything cached with these kernels, or None.

    It is None if no private folder can be had (`hexsim.files.private`).
    """
    return private_folder(f"kernels-{_source_hash()}")


def _source_hash() -> str:
    """Return a hash of all that decides what the code of a kernel is, and how long it takes."""
    digest = hashlib.sha256(f"{numba.__version__} {compiled_for()}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
