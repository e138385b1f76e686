"""Steps: what a lowered call does to arrays, in pieces that threads can share.

A step is a kernel with its arguments: numbers, arrays, and words that point to arrays
(`machine_code.words`), or records of all these (`machine_code.record`). FIRST and LAST stand for
the rows that one thread does and `Scratch` for memory of the thread's own. Work may also be a plain
function, which one thread runs. The steps of a call run one after the other. The results that one
step leaves for the next lie in a `Workspace`.

The one interface of all kernels: a lowered call made ready to run.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.arguments import (
    aligned,
    bytes_reached,
    fields_of,
    seen,
    whole_lines,
    with_fields,
)
from hexsim.int8.machine_code.jit import CompiledKernel
from hexsim.lowering.lowered_call import Codes, LoweredCall
from hexsim.records import dataclass


class RowArgument(Enum):
    """A placeholder for a number that differs between pieces of work."""

    FIRST = "first row of the piece"
    LAST = "row behind the piece"


FIRST, LAST = ROWS = RowArgument.FIRST, RowArgument.LAST


@dataclass(frozen=True)
class Scratch:
    """A placeholder for a flat array that each thread has of its own, its contents undefined."""

    size: int
    dtype: npt.DTypeLike

    @property
    def bytes(self) -> int:
        """Return the bytes, whole cache lines."""
        return whole_lines(self.size * np.dtype(self.dtype).itemsize)


@dataclass(frozen=True)
class Step:
    """`kernel` for `rows` rows, which may be done in any order, by several threads.

    A piece has a multiple of `grain` rows, unless it is the last. Whatever they are, the values
    are the same.
    """

    kernel: CompiledKernel
    arguments: tuple[Any, ...]
    rows: int
    grain: int = 1

    @property
    def bytes(self) -> int:
        """Return the bytes of all arrays that it reads or writes."""
        return sum(map(bytes_reached, fields_of(self.arguments)))

    def __call__(self) -> None:
        """Do all rows now, in this thread."""
        self.piece(0, self.rows)

    def piece(self, first: int, last: int) -> None:
        """Do rows `first` to `last` - 1 now, in this thread."""
        row_numbers = {FIRST: first, LAST: last}
        substitute = partial(_argument_value, rows=row_numbers)
        self.kernel(*(with_fields(argument, substitute) for argument in self.arguments))


Work = Step | Callable[[], None]


def _argument_value(argument: Any, rows: dict[RowArgument, int]) -> Any:
    if isinstance(argument, RowArgument):
        return rows[argument]
    if isinstance(argument, Scratch):
        return np.empty(argument.size, argument.dtype)
    return seen(argument)


class Workspace:
    """Memory for the results that the steps of one call leave for each other.

    Without a buffer, or when it is full, arrays are new ones. `needed` is the number of bytes that
    a buffer needs to hold the arrays of every call.
    """

    def __init__(self, size: int = 0) -> None:
        self._buffer = aligned(size)
        self._used = 0
        self.needed = 0

    def empty(self, shape: int | Sequence[int], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array whose contents are undefined, until the call's last step is done."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        size = math.prod(shape) * np.dtype(dtype).itemsize
        start = self._used
        self._used += whole_lines(size)
        self.needed = max(self.needed, self._used)
        if self._used > self._buffer.size:
            return np.empty(shape, dtype)
        return self._buffer[start : start + size].view(dtype).reshape(shape)

    def next_call(self) -> None:
        """Start again: the arrays of the last call are no longer needed."""
        self._used = 0


Out = npt.NDArray[np.integer[Any]]
"""The array into which a kernel writes codes or, if it is int32, sums."""


class Buffers(NamedTuple):
    """What a call reads and writes, and memory for what its steps leave for each other.

    Inputs and output are C-contiguous in stored order, and stay where they are for as long as the
    work is repeated. They have the types of the call's encodings, with one exception: a kernel of
    8-bit operands that accumulates writes its sums, preload included, into an int32 output.
    """

    inputs: Sequence[Codes]
    output: Out
    workspace: Workspace


Steps = list[Work]


class PreparedCall(Protocol):
    """A lowered call with its constants packed as its kernel reads them."""

    def steps(self, at: Buffers) -> Sequence[Work]:
        """Return the work that writes the result of the inputs into the output."""


Preparers = Mapping[type[LoweredCall], Callable[[Any], PreparedCall]]
"""By the type of lowered call, the function that packs the constants of such a call."""


KernelSteps = Callable[[Any, Buffers], Steps]
"""Returns what `PreparedCall.steps` returns, from the lowered call itself."""


@dataclass(frozen=True, eq=False)
class _Unpacked:
    kernel: KernelSteps
    call: LoweredCall

    def steps(self, at: Buffers) -> Steps:
        """See PreparedCall."""
        return self.kernel(self.call, at)


def unpacked(kernel: KernelSteps) -> Callable[[Any], PreparedCall]:
    """Return what prepares calls for a kernel that reads their constants as they are."""
    return partial(_Unpacked, kernel)
