"""Makes classes of protobuf messages from tables instead of generated code.

A table has an entry per message, with a word per field: `name:kind`, or `name=number:kind`. A kind
is one of `_KINDS`, the name of another message of the table, or an enumeration such as `MAX|AVE` or
`SUM=1|MEAN=4`. A `*` after the kind means any number of values. Fields without a number, in
messages that are only read as text, are numbered by position from 1, enumerations from 0.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

Message = Any
"""A message of protobuf, whose fields are only known at run time."""

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
    """Return the classes of the messages in `table` by name; full names begin with `package`."""
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
    is_repeated, kind = kind.endswith("*"), kind.removesuffix("*")
    field.label = field.LABEL_REPEATED if is_repeated else field.LABEL_OPTIONAL
    if kind in _KINDS:
        field.type = _KINDS[kind]
        if is_repeated and kind not in _UNPACKED:
            field.options.packed = True
    elif "|" in kind:
        choices = message.enum_type.add(name=name.title())
        for index, choice in enumerate(kind.split("|")):
            title, _, number = choice.partition("=")
            choices.value.add(name=title, number=int(number or index))
        field.type, field.type_name = field.TYPE_ENUM, f"{package}.{message.name}.{choices.name}"
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f"{package}.{kind}"
