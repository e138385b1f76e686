"""Classes of protobuf messages, made from tables of our own instead of generated code.

A table has a line per message, and in it a word per field: `name:kind`, or `name=number:kind`.
The kinds are those of `_KINDS`, names of other messages of the table, and choices, as in `MAX|AVE`
or `SUM=1|MEAN=4`. A `*` behind the kind: any number of values. Fields without numbers are numbered
by their places from 1, for messages that are read as text alone, and choices from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

Message = Any
"""A message of protobuf, whose fields are known when the program runs."""

_KINDS = {
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "flag": FieldDescriptorProto.TYPE_BOOL,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "text": FieldDescriptorProto.TYPE_STRING,
}
_UNPACKED = "bytes", "text"


def message_classes(package: str, table: Mapping[str, str]) -> dict[str, type[Message]]:
    """The classes of the messages in `table` by their names; `package` is part of full names."""
    file = FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    for title, words in table.items():
        message = file.message_type.add(name=title)
        for place, word in enumerate(words.split(), start=1):
            _add(message, f".{package}", word, place)
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        title: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{title}"))
        for title in table
    }


def _add(message: Message, package: str, word: str, place: int) -> None:
    label, kind = word.split(":")
    name, _, number = label.partition("=")
    field = message.field.add(name=name, number=int(number or place))
    many, kind = kind.endswith("*"), kind.removesuffix("*")
    field.label = field.LABEL_REPEATED if many else field.LABEL_OPTIONAL
    if kind in _KINDS:
        field.type = _KINDS[kind]
        if many and kind not in _UNPACKED:
            field.options.packed = True
    elif "|" in kind:
        choices = message.enum_type.add(name=name.title())
        for at, choice in enumerate(kind.split("|")):
            title, _, number = choice.partition("=")
            choices.value.add(name=title, number=int(number or at))
        field.type, field.type_name = field.TYPE_ENUM, f"{package}.{message.name}.{choices.name}"
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f"{package}.{kind}"
