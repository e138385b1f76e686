"""The bytes of a protobuf message, taken apart without knowing what it describes.

Left out: groups, which proto3 no longer has.
"""

from __future__ import annotations

from collections.abc import Iterator

from hexsim.errors import InvalidDataError

_VARINT, _EIGHT, _TEXT, _FOUR = 0, 1, 2, 5

Piece = int | memoryview


def fields(data: memoryview) -> Iterator[tuple[int, Piece]]:
    """Number and value of each field: an integer, or the bytes of anything else.

    Raises InvalidDataError, whose words are a clause, where the bytes are none.
    """
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = varint(data, at)
            yield number, value
            continue
        if kind == _TEXT:
            size, at = varint(data, at)
        elif kind in (_EIGHT, _FOUR):
            size = 8 if kind == _EIGHT else 4
        else:
            raise InvalidDataError(f"byte {at} begins no field")
        if number == 0 or at + size > len(data):
            raise InvalidDataError("a field goes beyond its end")
        yield number, data[at : at + size]
        at += size


def varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The number that begins at byte `at`, and where it ends; InvalidDataError if it does not."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise InvalidDataError("it ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise InvalidDataError("a number has too many bytes")
