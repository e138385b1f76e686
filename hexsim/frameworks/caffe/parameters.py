"""What the fields of a message say: numbers, flags, texts and choices, asked for by name.

A field that nobody asked for may change what a layer computes. So `require_all_read` refuses it.
"""

from __future__ import annotations

from typing import Any

from hexsim.errors import HexsimError, nearest
from hexsim.frameworks.caffe.prototxt import UnknownField
from hexsim.frameworks.messages import Message
from hexsim.texts.names import visible
from hexsim.texts.text import shortened

_LARGEST_REAL = 3.4028235e38
"""Largest single."""


class Parameters:
    """The fields of one message; `where` names it in messages, as in "layer 'conv1'".

    `unknown` is the first field, of it or of those within it, that protobuf passed over.
    """

    def __init__(self, message: Message, where: str, unknown: UnknownField | None = None) -> None:
        self.where = where
        self._message = message
        self.unknown = unknown
        self._read: set[str] = set()
        self._inner: list[Parameters] = []

    def error(self, what: str) -> HexsimError:
        """The error on something wrong in this message."""
        return HexsimError(f"{self.where}: {what}")

    def has(self, name: str) -> bool:
        """True if the field is there."""
        return any(field.name == name for field, _ in self._message.ListFields())

    def integers(self, name: str) -> tuple[int, ...]:
        """All values of a field that holds integers."""
        return self._values(name)

    def integer(self, name: str, default: int) -> int:
        """The value of a field that holds one integer."""
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
        values: tuple[float, ...] = self._values(name)
        for value in values:
            if not abs(value) <= _LARGEST_REAL:
                raise self.error(f"'{name}' is {value:g}, and should be a finite number")
        return values

    def real(self, name: str, default: float) -> float:
        """The value of a field that holds one real number."""
        return (default, *self.reals(name))[-1]

    def flag(self, name: str, default: bool) -> bool:
        """The value of a field that is true or false."""
        return bool((default, *self._values(name))[-1])

    def texts(self, name: str) -> tuple[str, ...]:
        """All values of a field that holds texts."""
        return tuple(map(visible, self._values(name)))

    def text(self, name: str) -> str:
        """The value of a field that holds one text; empty if absent."""
        return ("", *self.texts(name))[-1]

    def choice(self, name: str) -> str:
        """The value of a field that is one of several words; the first of them if absent."""
        self._read.add(name)
        choices = self._message.DESCRIPTOR.fields_by_name[name].enum_type.values_by_number
        return str(choices[getattr(self._message, name)].name)

    def messages(self, name: str) -> tuple[Parameters, ...]:
        """All messages of a field, which are named as this one is."""
        inner = tuple(Parameters(message, self.where) for message in self._values(name))
        self._inner += inner
        return inner

    def message(self, name: str) -> Parameters:
        """The message of a field; an empty one if absent."""
        self._read.add(name)
        self._inner.append(Parameters(getattr(self._message, name), self.where))
        return self._inner[-1]

    def require_all_read(self) -> None:
        """Raise HexsimError for a field, here or in messages that were read, that nobody asked for.

        So it does for one that the schema lacks.
        """
        for inner in self._inner:
            inner.require_all_read()
        self.require_known()

    def require_known(self) -> None:
        """Raise HexsimError for a field of this very message that nobody asked for."""
        if (field := self.unknown) is not None:
            raise self.error(
                f"parameter '{shortened(field.name)}' is not known (line {field.line}); "
                f"{nearest(field.name, field.known or self._read)}"
            )
        for name in (descriptor.name for descriptor, _ in self._message.ListFields()):
            if name not in self._read:
                raise self.error(f"parameter '{name}' is not known; {nearest(name, self._read)}")

    def _values(self, name: str) -> tuple[Any, ...]:
        """The values of a field, of which one that is not repeated has one or none."""
        self._read.add(name)
        value = getattr(self._message, name)
        if not self._message.DESCRIPTOR.fields_by_name[name].has_presence:
            return tuple(value)
        return (value,) if self._message.HasField(name) else ()
