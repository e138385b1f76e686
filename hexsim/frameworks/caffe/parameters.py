"""Reads the fields of a message by name.

A field that was not read may change what a layer computes. So `require_all_read` refuses it.
"""

from __future__ import annotations

from typing import Any, TypeVar

from hexsim.errors import HexsimError, nearest
from hexsim.frameworks.caffe.prototxt import UnknownField
from hexsim.frameworks.messages import Message
from hexsim.texts.text import shortened, visible

T = TypeVar("T")
_LARGEST_REAL = 3.4028235e38
"""Largest float32."""


class Parameters:
    """The fields of one message; `where` names it in errors, as in "layer 'conv1'".

    `unknown` is the first field, here or in an inner message, that protobuf did not know.
    """

    def __init__(self, message: Message, where: str, unknown: UnknownField | None = None) -> None:
        self.where = where
        self._message = message
        self.unknown = unknown
        self._read: set[str] = set()
        self._inner: list[Parameters] = []

    def error(self, reason: str) -> HexsimError:
        """Build the error that names this message."""
        return HexsimError(f"{self.where}: {reason}")

    def has(self, name: str) -> bool:
        """True if the field is present."""
        return any(field.name == name for field, _ in self._message.ListFields())

    def value(self, name: str, default: T) -> T:
        """Return the value of a field; an enumeration gives its word, text is made visible.

        Raises HexsimError for a real number that is not finite in float32.
        """
        values: tuple[T, ...] = (default, *self.values(name))
        return values[-1]

    def values(self, name: str) -> tuple[Any, ...]:
        """Return all values of a field; a field that is not repeated has one or none."""
        self._read.add(name)
        field, values = self._message.DESCRIPTOR.fields_by_name[name], getattr(self._message, name)
        if field.has_presence:
            values = [values] if self._message.HasField(name) else []
        if field.type == field.TYPE_STRING:
            return tuple(map(visible, values))
        if field.type == field.TYPE_ENUM:
            return tuple(field.enum_type.values_by_number[number].name for number in values)
        if field.type == field.TYPE_DOUBLE:
            for number in values:
                if not abs(number) <= _LARGEST_REAL:
                    raise self.error(f"'{name}' is {number:g}, and should be a finite number")
        return tuple(values)

    def positive(self, name: str, default: int | None = None) -> int:
        """Return the value of a field that must be at least 1."""
        number = self.value(name, default)
        if number is None:
            raise self.error(f"it has no '{name}'")
        if number < 1:
            raise self.error(f"'{name}' is {number}, and must be at least 1")
        return number

    def messages(self, name: str) -> tuple[Parameters, ...]:
        """Return all messages of a field; errors name them as this message."""
        inner = tuple(Parameters(message, self.where) for message in self.values(name))
        self._inner += inner
        return inner

    def message(self, name: str) -> Parameters:
        """Return the message of a field; an empty one if absent."""
        self._read.add(name)
        self._inner.append(Parameters(getattr(self._message, name), self.where))
        return self._inner[-1]

    def require_all_read(self) -> None:
        """Raise HexsimError for a field that was not read or that the schema does not have.

        Inner messages that were read are checked as well.
        """
        for inner in self._inner:
            inner.require_all_read()
        self.require_known()

    def require_known(self) -> None:
        """Raise HexsimError for a field of this message alone that was not read."""
        if (field := self.unknown) is not None:
            raise self.error(
                f"parameter '{shortened(field.name)}' is not known (line {field.line}); "
                f"{nearest(field.name, field.known or self._read)}"
            )
        for name in (descriptor.name for descriptor, _ in self._message.ListFields()):
            if name not in self._read:
                raise self.error(f"parameter '{name}' is not known; {nearest(name, self._read)}")
