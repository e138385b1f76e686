"""Kept: parts of long work, each a small JSON file in a private folder, from one run to the next.

A part is found by all that it was made of, so nothing has to be thrown away when something changes:
it is then another part. The program counts among that, every file of it, and so do the libraries
that compute. A file is written whole as soon as its part is done. A run that is killed loses the
part at work; one that begins again goes on behind the last.

A file that is damaged is made anew. Where there can be no private folder nothing is kept.

Left out: how large the folder becomes; a part has a few hundred bytes.
"""

from __future__ import annotations

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
_READ = (".py", ".toml", ".json")
"""Endings of the files of the program that decide what it computes."""
_LIBRARIES = ("numpy", "numba", "onnx", "onnxruntime")


class Checkpoints:
    """The parts of work called `name`; `made_of` is what they all have in common."""

    def __init__(self, name: str, made_of: Iterable[str]) -> None:
        self._folder = _folder(name)
        self._common = hash_of([program_hash(), *made_of])

    def part(self, made_of: Iterable[str], make: Callable[[], Any]) -> Any:
        """Return the part made of all this as JSON has it: the one kept, else what `make` makes."""
        path = self._path(made_of)
        found = None if path is None else _read(path)
        if found is None:
            found = json.loads(json.dumps({"part": make()}, allow_nan=False))
            if path is not None:
                with outside_transaction():
                    write_bytes(path, json.dumps(found).encode())
        return found["part"]

    def knows(self, made_of: Iterable[str]) -> bool:
        """True if the part is there."""
        path = self._path(made_of)
        return path is not None and _read(path) is not None

    def _path(self, made_of: Iterable[str]) -> Path | None:
        if self._folder is None:
            return None
        return self._folder / f"{hash_of([self._common, *made_of])}.json"


def keeps(name: str) -> bool:
    """True if there is a folder for parts of work called `name`."""
    return _folder(name) is not None


def hash_of(texts: Iterable[str | bytes]) -> str:
    """Hash of several texts, each told from its neighbours."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()[:32]


@cache
def program_hash() -> str:
    """Hash of the program: all its files, and the versions of the libraries that compute."""
    paths = sorted(path for path in _PACKAGE.rglob("*") if path.suffix in _READ)
    files = (
        part for path in paths for part in (str(path.relative_to(_PACKAGE)), path.read_bytes())
    )
    return hash_of([*files, *(f"{name} {version(name)}" for name in _LIBRARIES)])


def _folder(name: str) -> Path | None:
    folder = private_folder(name)
    return folder if folder is not None and is_own(folder) else None


def _read(path: Path) -> dict[str, Any] | None:
    """What a file of a part holds; None if there is none, or it is no such file."""
    try:
        if not path.is_file():
            return None
        found = parse_json(path.read_text("utf-8"), str(path), as_written=True)
    except (OSError, ValueError, HexsimError):
        return None
    return found if isinstance(found, dict) and "part" in found else None
