"""Architecture versions of Hexagon, and what follows from one for everybody."""

from __future__ import annotations

from typing import Literal

Arch = Literal["v60", "v62", "v65", "v66"]
"""Those whose threads and vector unit are modelled."""
HtpArch = Literal["v68", "v69", "v73", "v75", "v79"]
"""Those with a tensor processor."""

_SIGNED_WEIGHTS = 65
"""Kernels multiply by signed weights from this version on (documented: Hexagon NN's kernels)."""


def version(arch: Arch | HtpArch) -> int:
    """The architecture as a number, e.g. 66."""
    return int(arch.removeprefix("v"))


def takes_signed_weights(number: int) -> bool:
    """True if the vector kernels of a version multiply by signed weights."""
    return number >= _SIGNED_WEIGHTS
