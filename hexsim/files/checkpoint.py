"""Checkpoints: results of parts of long work, as small JSON files in a private folder.

The key of a part is a hash of all its inputs, of every file of the program, and of the versions of
the libraries that compute. So a changed input gives another key and nothing has to be invalidated.
A file is written atomically as soon as its part is done. A killed run loses only the part in
progress; the next run continues after the last finished part.

A damaged file is computed again. Without a private folder, or where a file cannot be written, as on
a full disk, a part is kept in memory until the work is done.

Left out: a limit on the size of the folder; a part has a few hundred bytes.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hexsim.errors import HexsimError
from hexsim.files.atomic_write import outside_transaction, write_bytes
from hexsim.files.private import is_own, private_folder
from hexsim.texts.trees import parse_json

_PACKAGE = Path(__file__).parents[1]
_NO_FOLDER = "there is no folder of caches that you alone can write; name one in HEXSIM_CACHE_DIR"
_LIBRARIES = ("numpy", "numba", "onnx", "onnxruntime")


class Checkpoints:
    """The parts of the work called `name`; `made_of` are the inputs that all parts share.

    Parts that are not `stored` are kept in memory alone. `fault` says why parts that were to be
    stored could not be, by the first of them, and is empty if all were.
    """

    def __init__(self, name: str, made_of: Iterable[str], *, stored: bool = True) -> None:
        self._folder = _folder(name) if stored else None
        self.fault = _NO_FOLDER if stored and self._folder is None else ""
        self._common = hash_of([program_hash(), *made_of])
        self._in_memory: dict[str, dict[str, Any]] = {}

    def part(self, made_of: Iterable[str], make: Callable[[], Any]) -> Any:
        """Return the part with these inputs as JSON data: from its checkpoint, else from `make`."""
        key = hash_of([self._common, *made_of])
        document = self._known(key)
        if document is None:
            document = json.loads(json.dumps({"part": make()}, allow_nan=False))
            self._keep(key, document)
        return document["part"]

    def knows(self, made_of: Iterable[str]) -> bool:
        """Return whether there is a checkpoint of the part."""
        return self._known(hash_of([self._common, *made_of])) is not None

    def _known(self, key: str) -> dict[str, Any] | None:
        if key in self._in_memory or self._folder is None:
            return self._in_memory.get(key)
        return _read(self._folder / f"{key}.json")

    def _keep(self, key: str, document: dict[str, Any]) -> None:
        if self._folder is not None:
            try:
                with outside_transaction():
                    write_bytes(self._folder / f"{key}.json", json.dumps(document).encode())
            except HexsimError as error:
                self.fault = self.fault or str(error)
            else:
                return
        self._in_memory[key] = document


def keeps(name: str) -> bool:
    """Return whether there is a folder for checkpoints of the work called `name`."""
    return _folder(name) is not None


def hash_of(texts: Iterable[str | bytes]) -> str:
    """Return a hash of several texts that depends on the boundaries between them."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()[:32]


@cache
def program_hash() -> str:
    """Return a hash of all files of the program and the versions of computing libraries.

    No kind of file is left out but Python's own caches: tables of instructions and measurements
    shape results as code does.
    """
    inside = sorted(_PACKAGE.rglob("*"))
    paths = [path for path in inside if path.is_file() and "__pycache__" not in path.parts]
    files = (
        part for path in paths for part in (str(path.relative_to(_PACKAGE)), path.read_bytes())
    )
    return hash_of([*files, *(f"{name} {version(name)}" for name in _LIBRARIES)])


def _folder(name: str) -> Path | None:
    folder = private_folder(name)
    return folder if folder is not None and is_own(folder) else None


def _read(path: Path) -> dict[str, Any] | None:
    """Return the contents of the file of a part; None if it is missing or invalid."""
    try:
        if not path.is_file():
            return None
        document = parse_json(path.read_text("utf-8"), str(path), as_written=True)
    except (OSError, ValueError, HexsimError):
        return None
    return document if isinstance(document, dict) and "part" in document else None
