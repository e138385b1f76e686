"""Every name of an ONNX model as it may be shown, in the one place where names come in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import onnx

from hexsim.texts.names import visible

_NO_NAMES = frozenset({"doc_string", "metadata_props", "external_data"})
"""Texts that nobody shows, and where weights lie, which is for the file system."""

_Message = Any  # of protobuf, of any kind


def with_visible_names(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return `model` with the characters of its names written out that are not printed.

    Texts that are all printed, as nearly all are, stay, and then the model is not copied.
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
                    if isinstance(text, str):  # what is no text cannot be written back
                        value[position] = visible(text)
    return changed


def _hidden(message: _Message) -> list[str]:
    """The fields of text in which something is not printed."""
    texts, _ = _fields(message.DESCRIPTOR)
    return [field for field in texts if _is_hidden(getattr(message, field))]


def _is_hidden(value: Any) -> bool:
    """True for text, or texts, with such characters; what is no text (bytes) is refused later."""
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
    """The fields of a kind of message that are texts, and those that are messages, if many."""
    fields = [field for field in descriptor.fields if field.name not in _NO_NAMES]
    texts = [field.name for field in fields if field.type == field.TYPE_STRING]
    parts = [field for field in fields if field.type == field.TYPE_MESSAGE]
    return texts, [(field.name, not field.has_presence) for field in parts]
