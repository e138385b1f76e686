"""The one interface of all kernels: a bound call made ready to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hexsim.binding.call import Codes

Out = npt.NDArray[np.integer[Any]]
"""Where a kernel writes codes or, if int32, sums."""
SUM_BYTES = 4
"""Bytes of a sum, by which kernels tell them from codes."""


class PreparedCall(Protocol):
    """A bound call with its constants packed as its kernel reads them."""

    def __call__(self, inputs: Sequence[Codes], output: Out) -> None:
        """Write the result of `inputs` into `output`, all C-contiguous in stored order.

        Inputs and output have the types of the call's encodings, with one exception: a kernel of
        8-bit operands that accumulates writes its sums, preload included, into an int32 output.
        """
