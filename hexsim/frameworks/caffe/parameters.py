"""What the fields of a message say: numbers, flags, texts and choices, asked for by name.

A field that nobody asked for may change what a layer computes. So `require_all_read` refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from hexsim.errors import HexsimError, nearest
from hexsim.texts.names import visible
from hexsim.texts.proto_text import Message, Scalar
from hexsim.texts.text import shortened

_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]{1,8}|\d{1,18})$")
_REAL = re.compile(r"([+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,3})?)[fF]?$")
_FLAGS = {"true": True, "True": True, "t": True, "1": True}
_FLAGS |= {"false": False, "False": False, "f": False, "0": False}
_LARGEST = 2**31 - 1
_LARGEST_REAL = 3.4028235e38


class Parameters:
    """The fields of one message; `where` names it in messages, as in "layer 'conv1'"."""

    def __init__(self, message: Message, where: str) -> None:
        self.where = where
        self._fields = message.fields
        self._read: set[str] = set()
        self._inner: list[Parameters] = []

    def error(self, what: str) -> HexsimError:
        """The error on something wrong in this message."""
        return HexsimError(f"{self.where}: {what}")

    def has(self, name: str) -> bool:
        """True if the field is there."""
        return name in self._fields

    def integers(self, name: str) -> tuple[int, ...]:
        """All values of a field that holds integers."""
        found = []
        for value in self._scalars(name):
            if value.quoted or not _INTEGER.match(value.text):
                raise self._wrong(name, value, "an integer")
            number = int(value.text, 16 if "x" in value.text.lower() else 10)
            if abs(number) > _LARGEST:
                raise self._wrong(name, value, "an integer of 32 bits")
            found.append(number)
        return tuple(found)

    def integer(self, name: str, default: int) -> int:
        """The value of a field that holds one integer; the last one counts."""
        return (default, *self.integers(name))[-1]

    def positive(self, name: str, default: int | None = None) -> int:
        """The value of a field that holds a number of something, at least 1."""
        values = self.integers(name)
        if not values and default is None:
            raise self.error(f"it has no '{name}'")
        number = values[-1] if values else default
        assert number is not None
        if number < 1:
            raise self.error(f"'{name}' is {number}, and must be at least 1")
        return number

    def reals(self, name: str) -> tuple[float, ...]:
        """All values of a field that holds real numbers, which are finite in single."""
        found = []
        for value in self._scalars(name):
            matched = None if value.quoted else _REAL.match(value.text)
            if matched is None or abs(float(matched[1])) > _LARGEST_REAL:
                raise self._wrong(name, value, "a finite number")
            found.append(float(matched[1]))
        return tuple(found)

    def real(self, name: str, default: float) -> float:
        """The value of a field that holds one real number."""
        return (default, *self.reals(name))[-1]

    def flag(self, name: str, default: bool) -> bool:
        """The value of a field that is true or false."""
        for value in self._scalars(name):
            if value.quoted or value.text not in _FLAGS:
                raise self._wrong(name, value, "true or false")
            default = _FLAGS[value.text]
        return default

    def texts(self, name: str) -> tuple[str, ...]:
        """All values of a field that holds texts."""
        found = []
        for value in self._scalars(name):
            if not value.quoted:
                raise self._wrong(name, value, "a text in quotes")
            found.append(visible(value.text))
        return tuple(found)

    def text(self, name: str) -> str:
        """The value of a field that holds one text; empty if absent."""
        return ("", *self.texts(name))[-1]

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """The value of a field that is one of several words; the first if absent."""
        found = choices[0]
        for value in self._scalars(name):
            if value.quoted or value.text not in choices:
                raise self._wrong(name, value, f"one of {', '.join(choices)}")
            found = value.text
        return found

    def word(self, name: str) -> str | None:
        """The value of a field that is a word, quoted or not."""
        return next((visible(value.text) for value in reversed(self._scalars(name))), None)

    def messages(self, name: str) -> tuple[Parameters, ...]:
        """All messages of a field, which are named as this one is."""
        found = []
        for value in self._values(name):
            if isinstance(value, Scalar):
                raise self._wrong(name, value, "a message in braces")
            found.append(Parameters(value, self.where))
        self._inner += found
        return tuple(found)

    def message(self, name: str) -> Parameters:
        """The message of a field; an empty one if absent."""
        given = self.messages(name)
        if len(given) > 1:
            raise self.error(f"'{name}' is there {len(given)} times")
        return given[0] if given else Parameters(Message(0), self.where)

    def require_all_read(self, harmless: Collection[str] = ()) -> None:
        """Raise HexsimError for a field, here or in messages that were read, that nobody asked for.

        Those that are `harmless` may be there.
        """
        for inner in self._inner:
            inner.require_all_read(harmless)
        self.require_known(harmless)

    def require_known(self, harmless: Collection[str] = ()) -> None:
        """Raise HexsimError for a field of this very message that nobody asked for."""
        for name in self._fields:
            if name not in self._read and name not in harmless:
                raise self.error(
                    f"parameter '{shortened(name)}' is not known; {nearest(name, self._read)}"
                )

    def _values(self, name: str) -> Sequence[Scalar | Message]:
        self._read.add(name)
        return self._fields.get(name, ())

    def _scalars(self, name: str) -> list[Scalar]:
        found = []
        for value in self._values(name):
            if not isinstance(value, Scalar):
                raise self.error(f"'{name}' is a message, and should be a value")
            found.append(value)
        return found

    def _wrong(self, name: str, value: Scalar, kind: str) -> HexsimError:
        shown = shortened(visible(value.text))
        return self.error(f"'{name}' is '{shown}' (line {value.line}), and should be {kind}")
