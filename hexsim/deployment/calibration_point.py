"""Calibrate a tensor processor to one latency that was measured on a phone.

The clock of the tensor processor and the bandwidth of DDR change by one factor, so that the
simulated time of the calibration point equals the measured one. Both constants are then known, and
no longer swept.

Left out: other differences between releases, which need measured rows of several networks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from hexsim.deployment.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError
from hexsim.runtimes import Runtime
from hexsim.timing.simtime import PS_PER_MS

_FLOATS = "@htp_fp16"


@dataclass(frozen=True)
class CalibrationPoint:
    """A network, built-in or a file, that took `ms` milliseconds on a runtime of the phone."""

    network: str
    runtime: Runtime
    ms: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read NETWORK=MS, or NETWORK@htp_fp16=MS; HexsimError if it is neither."""
        named, equals, number = text.rpartition("=")
        try:
            ms = float(number)
        except ValueError:
            ms = math.nan
        network = named.removesuffix(_FLOATS)
        if not (network and equals and math.isfinite(ms) and ms > 0):
            raise HexsimError(
                f"--anchor takes NETWORK=MS, such as resnet50=1.23, or NETWORK{_FLOATS}=MS for a "
                f"latency in float16, not '{text}'"
            )
        return cls(network, "htp" if network == named else "htp_fp16", ms)

    def __str__(self) -> str:
        floats = _FLOATS if self.runtime == "htp_fp16" else ""
        return f"{self.network}{floats}={self.ms:g}"


def calibrated_to(platform: Platform, anchor: CalibrationPoint) -> Platform:
    """Return the platform calibrated to a phone; HexsimError if it has no tensor processor."""
    if platform.chip.htp_table is None:
        raise HexsimError(
            f"--anchor calibrates a tensor processor, and chip {platform.chip.name} has "
            "none; fit it to measured rows with hexsim calibrate"
        )
    model = load_container(anchor.network).model
    platform.chip.require(anchor.runtime)
    platform.stack.require(anchor.runtime)
    uncalibrated = Deployment(model, platform, anchor.runtime).simulate()
    if not uncalibrated.total_ps:
        raise HexsimError(f"network '{anchor.network}' takes no time; anchor at one with layers")
    slower = anchor.ms * PS_PER_MS / uncalibrated.total_ps
    return platform.at_pace(slower, str(anchor))
