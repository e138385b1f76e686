"""Atomic writes: all output files of a transaction appear together, or none does.

Each file is written beside its target under a temporary name. When all are finished they are
renamed one by one; if a rename fails, the earlier ones are undone. So no incomplete file is ever
visible, two programs that write the same name leave one complete file, and work that fails or is
interrupted changes nothing. Only a kill between two renames can leave some files renamed.

A file that is replaced keeps its mode, and its owner where that is allowed; a new one gets its mode
from the user's umask. Through a symbolic link its target is replaced. A hard link is separated.

Files written inside `transaction` belong to it, also in functions that it calls; elsewhere each
file is renamed as soon as it is finished.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from hexsim.errors import HexsimError
from hexsim.files import temporaries
from hexsim.files.places import (
    Identity,
    identity,
    nearest_folder,
    require_folder,
    require_place,
    same_but_for_case,
    unwritable,
)
from hexsim.records import dataclass

_KINDS = {".csv", ".dlc", ".html", ".json", ".onnx", ".pb", ".pdf", ".png", ".tflite", ".xlsx"}
"""Endings of names that say what is in a file."""


def require_ending(path: str | Path, ending: str) -> None:
    """Raise HexsimError if a name ends as that of another kind of file than is written."""
    suffix = Path(path).suffix.lower()
    if suffix in _KINDS - {ending}:
        raise HexsimError(f"'{path}' should end in {ending}; what is written is no {suffix} file")


@dataclass(frozen=True)
class _Finished:
    """A finished temporary file before its rename; `path` is the user's name of the target."""

    temporary: Path
    target: Path
    path: Path


@dataclass(frozen=True)
class _Undo:
    """How to restore the old file at `target`; `backup` is a hard link to it.

    On a file system without hard links the old file cannot be restored.
    """

    target: Path
    was_there: bool
    backup: Path | None = None

    @classmethod
    def of(cls, target: Path) -> _Undo:
        """Prepare to undo the replacement of `target`."""
        if not os.path.lexists(target):
            return cls(target, was_there=False)
        backup = temporaries.name_in(target.parent)
        try:
            os.link(target, backup)
        except OSError:
            return cls(target, was_there=True)
        return cls(target, was_there=True, backup=backup)

    def take_back(self) -> None:
        """Restore the old file, or remove the new one if there was none."""
        with suppress(OSError):
            if self.backup is not None:
                os.replace(self.backup, self.target)
            elif not self.was_there:
                self.target.rmdir() if self.target.is_dir() else self.target.unlink()

    def forget(self) -> None:
        """Remove the hard link."""
        if self.backup is not None:
            temporaries.remove(self.backup)


class Transaction:
    """The output files of one piece of work. `kept` has files not to replace, with reasons."""

    def __init__(self, kept: Callable[[], Mapping[Identity, str]] = dict) -> None:
        self._kept = kept
        self._claimed: set[Identity] = set()
        self._new: dict[str, str] = {}
        self._written: set[Identity] = set()
        self._cleaned: set[Path] = set()
        self._finished: list[_Finished] = []

    def claim(self, path: Path, *, parents: bool = False) -> None:
        """Announce that `path` will be written, with `parents` also its folder if it is missing.

        Raises HexsimError if `path` cannot be written, is a protected file, or is already claimed.
        """
        require_place(path, parents=parents)
        file_id = identity(path)
        if isinstance(file_id, tuple) and (reason := self._kept().get(file_id)):
            raise HexsimError(f"'{path}' {reason}; give it another name")
        if file_id in self._claimed or (isinstance(file_id, str) and self._is_taken(file_id)):
            raise HexsimError(
                f"two outputs would be written to '{path}'; give each a name of its own"
            )
        self._claimed.add(file_id)
        if isinstance(file_id, str):
            self._new[file_id.casefold()] = file_id
        folder = nearest_folder(Path(os.path.realpath(path)))
        if folder not in self._cleaned:
            self._cleaned.add(folder)
            temporaries.clean(folder)

    def claim_folder(self, path: Path) -> None:
        """Announce that files will be written below `path`; HexsimError if that is impossible."""
        if identity(path) in self._claimed:
            raise HexsimError(
                f"two outputs would be written to '{path}'; give each a name of its own"
            )
        require_folder(path)

    @contextmanager
    def file(self, path: Path, *, parents: bool = False) -> Iterator[BinaryIO]:
        """Yield a temporary file that will replace `path`.

        It is removed if the block raises. Raises HexsimError as `claim` does, for a second write to
        the same file, and for errors of the file system.
        """
        file_id = identity(path)
        if file_id not in self._claimed:
            self.claim(path, parents=parents)
        elif file_id in self._written:
            raise HexsimError(
                f"two outputs would be written to '{path}'; give each a name of its own"
            )
        self._written.add(file_id)
        target = Path(os.path.realpath(path))
        try:
            old = target.stat() if target.exists() else None
            handle, temporary = temporaries.create(nearest_folder(target), 0o600 if old else 0o666)
        except OSError as error:
            raise unwritable(path, error) from None
        try:
            with os.fdopen(handle, "w+b") as file:
                yield file
                if old is not None:
                    _keep_owner(handle, old)
        except BaseException as error:
            temporaries.remove(temporary)
            if isinstance(error, OSError):
                raise unwritable(path, error) from None
            raise
        self._finished.append(_Finished(temporary, target, path))

    def land(self) -> None:
        """Rename all finished files to their targets; on failure undo all and raise HexsimError."""
        with temporaries.lock:
            undo_steps: list[_Undo] = []
            backups: list[_Undo] = []
            try:
                for finished in self._finished:
                    undo_steps.extend(_make_folders(finished.target))
                    backups.append(_Undo.of(finished.target))
                for finished, backup in zip(self._finished, backups, strict=True):
                    _replace(finished)  # with nothing in between that takes time
                    undo_steps.append(backup)
            except BaseException:
                for step in reversed(undo_steps):
                    step.take_back()
                self.abandon()
                raise
            finally:
                for backup in backups:
                    backup.forget()

    def abandon(self) -> None:
        """Remove the finished temporary files."""
        for finished in self._finished:
            temporaries.remove(finished.temporary)

    def _is_taken(self, name: str) -> bool:
        """Return whether a claimed file is a parent of `name`, or is `name` but for its case."""
        if any(str(folder) in self._claimed for folder in Path(name).parents):
            return True
        other = self._new.get(name.casefold())
        return other is not None and same_but_for_case(other, name)


_current: ContextVar[Transaction | None] = ContextVar("_current", default=None)


@contextmanager
def transaction(kept: Callable[[], Mapping[Identity, str]] = dict) -> Iterator[Transaction]:
    """Rename all files written inside the block when it ends; if it raises, remove them.

    `kept` is called before a file is replaced; it returns the protected files, with reasons.
    """
    current = Transaction(kept)
    token = _current.set(current)
    try:
        yield current
    except BaseException:
        current.abandon()
        raise
    finally:
        _current.reset(token)
    current.land()


@contextmanager
def outside_transaction() -> Iterator[None]:
    """Write files inside the block immediately, outside any surrounding transaction."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a temporary folder; files in the block are written outside any transaction."""
    home = Path(tempfile.gettempdir())
    temporaries.clean(home)
    folder = temporaries.create_folder(home)
    try:
        with outside_transaction():
            yield folder
    finally:
        temporaries.remove(folder)


def claim(paths: Iterable[Path], *, parents: bool = False) -> None:
    """Claim output files before long work; HexsimError as `Transaction.claim`."""
    current = _current.get() or Transaction()
    for path in paths:
        current.claim(path, parents=parents)


@contextmanager
def replacing(path: Path, *, parents: bool = False) -> Iterator[BinaryIO]:
    """Yield a temporary file that replaces `path` after the block, or after its transaction.

    If the block raises, nothing changes. Raises HexsimError if the folder does not exist (without
    `parents`) or cannot be written, or if `path` cannot be replaced by a file.
    """
    surrounding = _current.get()
    current = surrounding or Transaction()
    with current.file(path, parents=parents) as file:
        yield file
    if surrounding is None:
        current.land()


def write_bytes(path: Path, data: bytes, *, parents: bool = False) -> None:
    """Write `data` to `path`; errors as those of `replacing`."""
    with replacing(path, parents=parents) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write `text` (UTF-8) to `path`; errors as those of `replacing`."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def clean_tree(folder: Path) -> None:
    """Remove temporary files of killed programs in `folder` and all folders below it."""
    for place, _, _ in os.walk(folder):
        temporaries.clean(Path(place))


def _keep_owner(handle: int, replaced: os.stat_result) -> None:
    """Give an open file the mode, and if allowed the owner, of the file that it replaces."""
    with suppress(OSError):
        os.fchown(handle, replaced.st_uid, replaced.st_gid)
    os.fchmod(handle, replaced.st_mode & 0o7777)


def _make_folders(target: Path) -> Iterator[_Undo]:
    """Make the missing folders above `target`."""
    missing = [folder for folder in target.parents if not os.path.exists(folder)]
    for folder in reversed(missing):
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise HexsimError(f"cannot make folder '{folder}': {error.strerror}") from None
        yield _Undo(folder, was_there=False)


def _replace(finished: _Finished) -> None:
    try:
        os.replace(finished.temporary, finished.target)
    except OSError as error:
        raise unwritable(finished.path, error) from None
    temporaries.placed(finished.temporary)
