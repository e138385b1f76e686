"""What the fields of a message say, asked for by name.

A field that nobody asked for may change what a layer computes. So `require_all_read` refuses it.
"""

from __future__ import annotations

from typing import Any, TypeVar

from hexsim.errors import HexsimError, nearest
from hexsim.frameworks.caffe.prototxt import UnknownField
from hexsim.frameworks.messages import Message
from hexsim.texts.names import visible
from hexsim.texts.text import shortened

T = TypeVar("T")
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

    def value(self, name: str, default: T) -> T:
        """The value of a field; that of a choice is its word, and no name hides a character.

        Raises HexsimError for a real number that is not finite in single.
        """
        values: tuple[T, ...] = (default, *self.values(name))
        return values[-1]

    def values(self, name: str) -> tuple[Any, ...]:
        """All values of a field; one that is not repeated has one or none."""
        self._read.add(name)
        field, held = self._message.DESCRIPTOR.fields_by_name[name], getattr(self._message, name)
        if field.has_presence:
            held = [held] if self._message.HasField(name) else []
        if field.type == field.TYPE_STRING:
            return tuple(map(visible, held))
        if field.type == field.TYPE_ENUM:
            return tuple(field.enum_type.values_by_number[number].name for number in held)
        if field.type == field.TYPE_DOUBLE:
            for number in held:
                if not abs(number) <= _LARGEST_REAL:
                    raise self.error(f"'{name}' is {number:g}, and should be a finite number")
        return tuple(held)

    def positive(self, name: str, default: int | None = None) -> int:
        """The value of a field that holds a number of something, at least 1."""
        number = self.value(name, default)
        if number is None:
            raise self.error(f"it has no '{name}'")
        if number < 1:
            raise self.error(f"'{name}' is {number}, and must be at least 1")
        return number

    def messages(self, name: str) -> tuple[Parameters, ...]:
        """All messages of a field, which are named as this one is."""
        inner = tuple(Parameters(message, self.where) for message in self.values(name))
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
