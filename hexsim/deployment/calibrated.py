"""Calibrate a tensor processor to one latency that was measured on a phone.

The clock of the tensor processor and the bandwidth of DDR change by one factor, so that the
simulated time of the calibration point equals the measured one.

Left out: other differences between releases, which need measured rows of several networks.
"""

from __future__ import annotations

from collections.abc import Sequence

from hexsim.deployment.calibration_point import CalibrationPoint
from hexsim.deployment.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError
from hexsim.timing.simtime import PS_PER_MS


def anchored(platforms: Sequence[Platform], anchor: str | None) -> list[Platform]:
    """Return platforms calibrated to NETWORK=MS, if given; HexsimError for several chips."""
    if anchor is None:
        return list(platforms)
    point = CalibrationPoint.parse(anchor)
    chips = dict.fromkeys(platform.chip.name for platform in platforms)
    if len(chips) > 1:
        raise HexsimError(
            f"--anchor is a latency of one phone, and there are {len(chips)} chips: "
            f"{', '.join(chips)}; give the chip of that phone alone"
        )
    return [calibrated_to(platform, point) for platform in platforms]


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
    return platform.at_pace(slower, anchor)
