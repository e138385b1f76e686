"""Words: numbers for machine code, some of them addresses, that own whatever lies there.

Machine code follows an address long after whoever wrote it down is gone. So no address is handed
out by itself: who wants one written down names the array, and gets words that keep it alive. Words
may point to other words; holding the first is holding all.

Inside kernels arrays have addresses (`x.ctypes.data`) as in C. A kernel uses them while it runs,
and whoever runs it holds its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.memory import aligned

Int64 = npt.NDArray[np.int64]
Array = npt.NDArray[Any]
Word: TypeAlias = "int | np.integer[Any] | Array | Words | Slot"
"""A number, or what stands for the address of its memory."""


class Words:
    """Rows of 64-bit words, as many in each, which begin a cache line.

    An array among them, or other words, stand for their address and live as long as these.
    """

    def __init__(self, rows: Sequence[Sequence[Word]]) -> None:
        everything = [word for row in rows for word in row]
        self._owned = tuple(word for word in everything if not isinstance(word, int | np.integer))
        memory = aligned(8 * len(everything)).view(np.int64)
        memory[:] = [_number(word) for word in everything]
        self.numbers: Int64 = memory.reshape(len(rows), -1)

    def owned(self) -> Iterator[Array]:
        """All arrays that machine code reaches from here, these words first."""
        yield self.numbers
        for one in self._owned:
            if isinstance(one, Words | Slot):
                yield from one.owned()
            else:
                yield one


class Slot:
    """One word, the address of an array that may be another one in every run."""

    def __init__(self) -> None:
        self.numbers: Int64 = np.zeros(1, np.int64)
        self._held: Array | None = None

    def hold(self, array: Array) -> None:
        """Point to `array`, and keep it alive until something else is held or nothing."""
        self._held = array
        self.numbers[0] = array.ctypes.data

    def release(self) -> None:
        """Point to nothing."""
        self.numbers[0] = 0
        self._held = None

    def owned(self) -> Iterator[Array]:
        """The word, and the array that it points to if there is one."""
        yield self.numbers
        if self._held is not None:
            yield self._held


def seen(argument: Any) -> Any:
    """What a kernel sees of an argument: of words, their array."""
    return argument.numbers if isinstance(argument, Words | Slot) else argument


def expanded(argument: Word) -> list[Word]:
    """The words of a machine argument: an integer is one, an array those of numba's structure."""
    if isinstance(argument, int | np.integer):
        return [argument]
    array = seen(argument)
    nobody = [0, 0]  # whoever owns the words owns the array
    return [*nobody, array.size, array.itemsize, argument, *array.shape, *array.strides]


def bytes_reached(argument: Any) -> int:
    """Bytes of the arrays that a kernel reaches through an argument."""
    if isinstance(argument, Words | Slot):
        return sum(array.nbytes for array in argument.owned())
    return argument.nbytes if isinstance(argument, np.ndarray) else 0


def _number(word: Word) -> int:
    return int(word) if isinstance(word, int | np.integer) else int(seen(word).ctypes.data)
