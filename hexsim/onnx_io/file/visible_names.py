"""Replaces characters of names in an ONNX model that cannot be printed, when a model is opened."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import onnx

from hexsim.texts.names import visible

_NO_NAMES = frozenset({"doc_string", "metadata_props", "external_data"})
"""Texts that are never shown, and locations of weights, which are file names."""

_Message = Any  # of protobuf, of any kind


def with_visible_names(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return `model` with escapes for the characters of its names that cannot be printed.

    If all names are printable, as in nearly all files, the model itself is returned.
    """
    if not any(_hidden(message) for message in _messages(model)):
        return model
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    for message in _messages(changed):
        for field in _hidden(message):
            value = getattr(message, field)
            if isinstance(value, str):
                setattr(message, field, visible(value))
            else:
                for position, text in enumerate(value):
                    if isinstance(text, str):  # bytes that are not UTF-8 cannot be assigned
                        value[position] = visible(text)
    return changed


def _hidden(message: _Message) -> list[str]:
    """Return the text fields with characters that cannot be printed."""
    texts, _ = _fields(message.DESCRIPTOR)
    return [field for field in texts if _is_hidden(getattr(message, field))]


def _is_hidden(value: Any) -> bool:
    """True for text, or a list of it, with such characters; bytes are refused later."""
    texts = (value,) if isinstance(value, str | bytes) else value
    return any(isinstance(text, str) and not text.isprintable() for text in texts)


def _messages(message: _Message) -> Iterator[_Message]:
    yield message
    _, parts = _fields(message.DESCRIPTOR)
    for field, repeated in parts:
        if repeated:
            for part in getattr(message, field):
                yield from _messages(part)
        elif message.HasField(field):
            yield from _messages(getattr(message, field))


@cache
def _fields(descriptor: _Message) -> tuple[list[str], list[tuple[str, bool]]]:
    """Return the text fields of a message type, and its (message field, is repeated) pairs."""
    fields = [field for field in descriptor.fields if field.name not in _NO_NAMES]
    texts = [field.name for field in fields if field.type == field.TYPE_STRING]
    parts = [field for field in fields if field.type == field.TYPE_MESSAGE]
    return texts, [(field.name, not field.has_presence) for field in parts]
