"""The one interface of all kernels: a lowered call made ready to run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hexsim.int8.step import Work, Workspace
from hexsim.lowering.lowered_call import Codes, LoweredCall

Out = npt.NDArray[np.integer[Any]]
"""The array into which a kernel writes codes or, if it is int32, sums."""


Inputs = Sequence[Codes]
Steps = list[Work]


class PreparedCall(Protocol):
    """A lowered call with its constants packed as its kernel reads them."""

    def steps(self, inputs: Inputs, output: Out, workspace: Workspace) -> Sequence[Work]:
        """Return the work that writes the result of `inputs` into `output`.

        All are C-contiguous in stored order, and stay where they are for as long as the work is
        repeated. They have the types of the call's encodings, with one exception: a kernel of
        8-bit operands that accumulates writes its sums, preload included, into an int32 output.
        """


Preparers = Mapping[type[LoweredCall], Callable[[Any], PreparedCall]]
"""By the type of lowered call, the function that packs the constants of such a call."""


KernelSteps = Callable[[Any, Inputs, Out, Workspace], Steps]
"""Returns what `PreparedCall.steps` returns, from the lowered call itself."""


@dataclass(frozen=True, eq=False)
class _Unpacked:
    kernel: KernelSteps
    call: LoweredCall

    def steps(self, inputs: Inputs, output: Out, workspace: Workspace) -> Steps:
        """See PreparedCall."""
        return self.kernel(self.call, inputs, output, workspace)


def unpacked(kernel: KernelSteps) -> Callable[[Any], PreparedCall]:
    """Return what prepares calls for a kernel that reads their constants as they are."""
    return partial(_Unpacked, kernel)
