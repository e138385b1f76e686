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
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    for message in _messages(shown):
        for field in _hidden(message):
            found = getattr(message, field)
            if isinstance(found, str):
                setattr(message, field, visible(found))
            else:
                for at, one in enumerate(found):
                    if isinstance(one, str):  # what is no text cannot be written back
                        found[at] = visible(one)
    return shown


def _hidden(message: _Message) -> list[str]:
    """The fields of text in which something is not printed."""
    texts, _ = _fields(message.DESCRIPTOR)
    return [field for field in texts if _is_hidden(getattr(message, field))]


def _is_hidden(found: Any) -> bool:
    """True for text, or texts, with such characters; what is no text (bytes) is refused later."""
    each = (found,) if isinstance(found, str | bytes) else found
    return any(isinstance(one, str) and not one.isprintable() for one in each)


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
