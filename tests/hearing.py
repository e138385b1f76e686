"""Hears what functions say while they work."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from hexsim.errors import Listener, heard_by


class Heard(Listener):
    """What was said; `done` is called with how many things are done."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.steps: list[str] = []
        self.done: Callable[[int], None] = lambda done: None

    def warning(self, sentence: str) -> None:
        self.warnings.append(sentence)

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def counting(self, what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        return nullcontext(self.done)

    def step(self, what: str) -> None:
        self.steps.append(what)


@contextmanager
def hearing() -> Iterator[Heard]:
    """Hear what is said inside the block."""
    heard = Heard()
    with heard_by(heard):
        yield heard
