"""The autotuner's cache: what measurements chose, stored beside the kernels that were measured.

There is a file of one line for each question: the answer, the question, and the times that decided.
The folder's name changes with the kernels' source, numba and the CPU (`machine_code.cache`), so an
answer is never used with other kernels than those that were measured. Files are replaced whole: if
two processes measure the same thing at the same moment, later processes read the answer of the one
that wrote last.
"""

import hashlib
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.files import outside_transaction, write_text

_SEPARATOR = " | "


class AutotunerCache:
    """Answers of this process and, if there is a `folder` to store them in, of earlier ones."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, str] = {}

    def answer(self, question: str) -> str | None:
        """Return what was chosen, None if that is not known."""
        if question not in self._known and self._folder is not None:
            try:
                answer, stored_question, _ = (
                    self._file(question).read_text("utf-8").split(_SEPARATOR)
                )
            except (OSError, ValueError):  # ValueError: not what `store` writes
                return None
            if stored_question == question:
                self._known[question] = answer
        return self._known.get(question)

    def store(self, question: str, answer: str, because: str) -> None:
        """Store an answer, on disk if that can be written."""
        self._known[question] = answer
        if self._folder is None:
            return
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with outside_transaction():  # stored even if the command fails
                write_text(
                    self._file(question), _SEPARATOR.join((answer, question, because)) + "\n"
                )
        except (OSError, HexsimError):
            pass  # the next run measures again

    def _file(self, question: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{hashlib.sha256(question.encode()).hexdigest()[:16]}.txt"
