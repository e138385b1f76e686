"""What measurements chose, kept between runs beside the kernels that were measured.

A file of one line for each question: the answer, the question, and the times that decided. The
folder's name changes with the kernels' source, numba and the CPU (`machine_code.cache`), so no
answer outlives what it was measured with. Files are replaced whole: of two processes that measure
the same thing at the same moment one has the last word, and all later ones read that.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from hexsim.errors import HexsimError
from hexsim.files import outside_transaction, write_text

_BETWEEN = " | "


class AutotunerCache:
    """Answers of this process, and of earlier ones if there is a `folder` to keep them in."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, str] = {}

    def answer(self, question: str) -> str | None:
        """Return what was chosen, None if that is not known."""
        if question not in self._known and self._folder is not None:
            try:
                answer, asked, _ = self._file(question).read_text("utf-8").split(_BETWEEN)
            except (OSError, ValueError):  # ValueError: not what `keep` writes
                return None
            if asked == question:
                self._known[question] = answer
        return self._known.get(question)

    def keep(self, question: str, answer: str, because: str) -> None:
        """Remember an answer, on disk if that can be written."""
        self._known[question] = answer
        if self._folder is None:
            return
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with outside_transaction():  # whatever becomes of the command that asked
                write_text(self._file(question), _BETWEEN.join((answer, question, because)) + "\n")
        except (OSError, HexsimError):
            pass  # the next run measures again

    def _file(self, question: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{hashlib.sha256(question.encode()).hexdigest()[:16]}.txt"
