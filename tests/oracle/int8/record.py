"""One case of a program in hvx/: its integers and arrays as the bytes that hvx.h reads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

VECTOR = 128
_SECTIONS, _ARGUMENTS = 7, 24


@dataclass(frozen=True)
class Record:
    """`bytes` is struct record and the blob of hvx.h; `result_bytes` is what the kernel answers."""

    bytes: bytes
    result_bytes: int


def record(sections: Sequence[np.ndarray], arguments: Sequence[int], result_bytes: int) -> Record:
    """Lay sections one after the other, each aligned to a vector and readable a vector beyond."""
    offsets, parts, end = [0] * _SECTIONS, [], 0
    for i, section in enumerate(sections):
        data = np.ascontiguousarray(section).tobytes()
        data += bytes(-len(data) % VECTOR + VECTOR)
        offsets[i] = end
        parts.append(data)
        end += len(data)
    padded = [*arguments, *[0] * (_ARGUMENTS - len(arguments))]
    head = np.array([end, *offsets, *padded], np.int64)
    if len(arguments) > _ARGUMENTS or np.any(head != head.astype(np.int32)):
        raise ValueError("an argument does not fit the record")
    return Record(head.astype("<i4").tobytes() + b"".join(parts), result_bytes)
