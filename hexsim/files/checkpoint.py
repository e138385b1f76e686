"""Checkpoints: results of parts of long work, as small JSON files in a private folder.

The key of a part is a hash of all its inputs, of every file of the program, and of the versions of
the libraries that compute. So a changed input gives another key and nothing has to be invalidated.
A file is written atomically as soon as its part is done. A killed run loses only the part in
progress; the next run continues after the last finished part.

A damaged file is computed again. Without a private folder nothing is stored.

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
from hexsim.texts.json_text import parse_json

_PACKAGE = Path(__file__).parents[1]
_SUFFIXES = (".py", ".toml", ".json")
"""Suffixes of the files of the program that affect its results."""
_LIBRARIES = ("numpy", "numba", "onnx", "onnxruntime")


class Checkpoints:
    """The parts of the work called `name`; `made_of` are the inputs that all parts share."""

    def __init__(self, name: str, made_of: Iterable[str]) -> None:
        self._folder = _folder(name)
        self._common = hash_of([program_hash(), *made_of])

    def part(self, made_of: Iterable[str], make: Callable[[], Any]) -> Any:
        """Return the part with these inputs as JSON data: from its checkpoint, else from `make`."""
        path = self._path(made_of)
        document = None if path is None else _read(path)
        if document is None:
            document = json.loads(json.dumps({"part": make()}, allow_nan=False))
            if path is not None:
                with outside_transaction():
                    write_bytes(path, json.dumps(document).encode())
        return document["part"]

    def knows(self, made_of: Iterable[str]) -> bool:
        """Return whether there is a checkpoint of the part."""
        path = self._path(made_of)
        return path is not None and _read(path) is not None

    def _path(self, made_of: Iterable[str]) -> Path | None:
        if self._folder is None:
            return None
        return self._folder / f"{hash_of([self._common, *made_of])}.json"


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
    """Return a hash of all files of the program and the versions of computing libraries."""
    paths = sorted(path for path in _PACKAGE.rglob("*") if path.suffix in _SUFFIXES)
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
