"""Architecture versions of Hexagon, and their general properties."""

from typing import Literal

Arch = Literal["v60", "v62", "v65", "v66"]
"""Versions whose threads and vector unit are modelled."""
HtpArch = Literal["v68", "v69", "v73", "v75", "v79", "v81"]
"""Versions with a tensor processor."""


def version(arch: Arch | HtpArch) -> int:
    """Return the architecture as a number, e.g. 66."""
    return int(arch.removeprefix("v"))
