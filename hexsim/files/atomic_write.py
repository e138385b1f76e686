"""Landing: the files that a piece of work writes take their places together, or none does.

Each file is written beside its place under a temporary name. When all are finished they are
renamed, one after the other; if one cannot be, those before it are taken back. So nobody ever sees
half a file, two programs that write the same name leave one whole file, and work that fails, or is
interrupted, leaves everything as it was. Only a kill between two renames can part them.

A file that is replaced keeps its mode, and its owner where that is allowed; a new one has what the
user's umask leaves. A symbolic link stays one: what it points to is replaced. A hard link is cut.

What is written inside `transaction` belongs to it, however deep below; elsewhere each file lands as
soon as it is finished.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
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


@dataclass(frozen=True)
class _Finished:
    """A file that waits to take its place; `path` is what the user calls it."""

    temporary: Path
    target: Path
    path: Path


@dataclass(frozen=True)
class _Undo:
    """How to get back to what lay at `target`: `backup` is a second name of it.

    Where the file system has no hard links, what was there cannot be brought back.
    """

    target: Path
    was_there: bool
    backup: Path | None = None

    @classmethod
    def of(cls, target: Path) -> _Undo:
        """Prepare for the replacement of `target`."""
        if not os.path.lexists(target):
            return cls(target, was_there=False)
        backup = temporaries.name_in(target.parent)
        try:
            os.link(target, backup)
        except OSError:
            return cls(target, was_there=True)
        return cls(target, was_there=True, backup=backup)

    def take_back(self) -> None:
        """Bring back what was there, or remove what was not."""
        with suppress(OSError):
            if self.backup is not None:
                os.replace(self.backup, self.target)
            elif not self.was_there:
                self.target.rmdir() if self.target.is_dir() else self.target.unlink()

    def forget(self) -> None:
        """Remove the second name."""
        if self.backup is not None:
            temporaries.remove(self.backup)


class Transaction:
    """The files of one piece of work. `kept` are files that it must not replace, and why not."""

    def __init__(self, kept: Callable[[], Mapping[Identity, str]] = dict) -> None:
        self._kept = kept
        self._claimed: set[Identity] = set()
        self._new: dict[str, str] = {}
        self._written: set[Identity] = set()
        self._cleaned: set[Path] = set()
        self._finished: list[_Finished] = []

    def claim(self, path: Path, *, parents: bool = False) -> None:
        """Say that `path` will be written; with `parents`, its folder too if there is none.

        Raises HexsimError if that cannot be, would replace a file that is to be kept, or has been
        said before.
        """
        require_place(path, parents=parents)
        found = identity(path)
        if isinstance(found, tuple) and (why := self._kept().get(found)):
            raise HexsimError(f"'{path}' {why}; give it another name")
        if found in self._claimed or (isinstance(found, str) and self._is_taken(found)):
            raise HexsimError(
                f"two outputs would be written to '{path}'; give each a name of its own"
            )
        self._claimed.add(found)
        if isinstance(found, str):
            self._new[found.casefold()] = found
        folder = nearest_folder(Path(os.path.realpath(path)))
        if folder not in self._cleaned:
            self._cleaned.add(folder)
            temporaries.clean(folder)

    def claim_folder(self, path: Path) -> None:
        """Say that files will be written below `path`; HexsimError if that cannot be."""
        if identity(path) in self._claimed:
            raise HexsimError(
                f"two outputs would be written to '{path}'; give each a name of its own"
            )
        require_folder(path)

    @contextmanager
    def file(self, path: Path, *, parents: bool = False) -> Iterator[BinaryIO]:
        """Yield the file that will take the place of `path`.

        If the block raises, it is gone. Raises HexsimError as `claim`, for a file that is written a
        second time, and for what the disk refuses.
        """
        found = identity(path)
        if found not in self._claimed:
            self.claim(path, parents=parents)
        elif found in self._written:
            raise HexsimError(
                f"two outputs would be written to '{path}'; give each a name of its own"
            )
        self._written.add(found)
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
        """Let all finished files take their places; HexsimError, and none does, if one cannot."""
        with temporaries.held:
            done: list[_Undo] = []
            backups: list[_Undo] = []
            try:
                for one in self._finished:
                    done.extend(_make_folders(one.target))
                    backups.append(_Undo.of(one.target))
                for one, backup in zip(self._finished, backups, strict=True):
                    _replace(one)  # with nothing in between that takes time
                    done.append(backup)
            except BaseException:
                for step in reversed(done):
                    step.take_back()
                self.abandon()
                raise
            finally:
                for backup in backups:
                    backup.forget()

    def abandon(self) -> None:
        """Remove what was finished."""
        for one in self._finished:
            temporaries.remove(one.temporary)

    def _is_taken(self, name: str) -> bool:
        """True if a folder of `name` is to be a file, or another name differs in case alone."""
        if any(str(folder) in self._claimed for folder in Path(name).parents):
            return True
        other = self._new.get(name.casefold())
        return other is not None and same_but_for_case(other, name)


_current: ContextVar[Transaction | None] = ContextVar("_current", default=None)


@contextmanager
def transaction(kept: Callable[[], Mapping[Identity, str]] = dict) -> Iterator[Transaction]:
    """Let all files that are written inside the block land when it ends, or none if it raises.

    `kept`, asked when a file would be replaced, tells which must not be and what to say of them.
    """
    landing = Transaction(kept)
    token = _current.set(landing)
    try:
        yield landing
    except BaseException:
        landing.abandon()
        raise
    finally:
        _current.reset(token)
    landing.land()


@contextmanager
def outside_transaction() -> Iterator[None]:
    """Let files that are written inside the block land at once, whatever goes on around it."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a folder that is gone afterwards; what is written inside the block lands at once."""
    home = Path(tempfile.gettempdir())
    temporaries.clean(home)
    folder = temporaries.create_folder(home)
    try:
        with outside_transaction():
            yield folder
    finally:
        temporaries.remove(folder)


def claim(paths: Iterable[Path], *, parents: bool = False) -> None:
    """Say, before long work, which files will be written; HexsimError as `Transaction.claim`."""
    landing = _current.get() or Transaction()
    for path in paths:
        landing.claim(path, parents=parents)


@contextmanager
def replacing(path: Path, *, parents: bool = False) -> Iterator[BinaryIO]:
    """Yield a temporary file beside `path` that takes its place: now, or with those it is among.

    If the block raises, `path` stays as it was and nothing is left behind. Raises HexsimError if
    the folder does not exist (and is not to be made, `parents`) or cannot be written, or if `path`
    is what a file must not displace.
    """
    among = _current.get()
    landing = among or Transaction()
    with landing.file(path, parents=parents) as file:
        yield file
    if among is None:
        landing.land()


def write_bytes(path: Path, data: bytes, *, parents: bool = False) -> None:
    """Write `data` to `path`; errors as those of `replacing`."""
    with replacing(path, parents=parents) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write `text` (UTF-8) to `path`; errors as those of `replacing`."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def clean_tree(folder: Path) -> None:
    """Remove what killed programs left in `folder` and in all folders below it."""
    for place, _, _ in os.walk(folder):
        temporaries.clean(Path(place))


def _keep_owner(handle: int, old: os.stat_result) -> None:
    """Give an open file the owner, where that is allowed, and the mode of the one it replaces."""
    with suppress(OSError):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, old.st_mode & 0o7777)


def _make_folders(target: Path) -> Iterator[_Undo]:
    """Make the folders above `target` that are missing."""
    missing = [folder for folder in target.parents if not os.path.exists(folder)]
    for folder in reversed(missing):
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise HexsimError(f"cannot make folder '{folder}': {error.strerror}") from None
        yield _Undo(folder, was_there=False)


def _replace(one: _Finished) -> None:
    try:
        os.replace(one.temporary, one.target)
    except OSError as error:
        raise unwritable(one.path, error) from None
    temporaries.placed(one.temporary)
