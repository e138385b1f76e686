"""The one interface of all kernels: a bound call made ready to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hexsim.binding.call import Codes


class PreparedCall(Protocol):
    """A bound call with its constants packed as its kernel reads them."""

    def __call__(self, inputs: Sequence[Codes], output: Codes) -> None:
        """Write the result of `inputs` into `output`, all C-contiguous u8 in stored order."""
