"""Calibrate a platform to what was measured on a phone: one latency, or a profile of layers.

With a latency, the clock of the tensor processor and the bandwidth of DDR change by one factor, so
that the simulated time of the calibration point equals the measured one. With a profile, each class
of layers gets its own factor (`hexsim.deployment.calibration`), on the runtime of the
profile alone.

Left out: other differences between releases, which need measured rows of several networks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hexsim.deployment.calibration import (
    CalibrationPoint,
    CalibrationProfile,
    ClassFactor,
    LayerTimes,
    class_factors,
)
from hexsim.deployment.deployment import Deployment
from hexsim.deployment.phone_profile.comparison import (
    compare_profile,
    runtime_here,
    selected_run,
    simulated_beside,
)
from hexsim.deployment.phone_profile.profile import PhoneProfile
from hexsim.deployment.phone_profile.reading import read_profile
from hexsim.deployment.platform import Anchor, Platform
from hexsim.deployment.source_model import Preparation, SourceModel
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, spelled
from hexsim.runtimes import MAIN_ENGINE, Runtime
from hexsim.texts.figures import figure
from hexsim.timing.picoseconds import PS_PER_MS


def parsed(anchor: str) -> Anchor:
    """Read NETWORK=MS or NETWORK=FILE; HexsimError if it is neither."""
    of_file = CalibrationProfile.parse(anchor)
    ending = Path(of_file.file).suffix[1:]
    if of_file.network and (ending[:1].isalpha() or Path(of_file.file).is_file()):
        return of_file
    return CalibrationPoint.parse(anchor)


def anchored(platforms: Sequence[Platform], anchor: str | None) -> list[Platform]:
    """Return platforms calibrated to what `anchor` names, if given.

    Raises HexsimError for several chips.
    """
    if anchor is None:
        return list(platforms)
    measured = parsed(anchor)
    chips = dict.fromkeys(platform.chip.name for platform in platforms)
    if len(chips) > 1:
        raise HexsimError(
            f"{spelled('anchor')} is a measurement of one phone, and there are {len(chips)} chips: "
            f"{', '.join(chips)}; give the chip of that phone alone"
        )
    if isinstance(measured, CalibrationProfile):
        profile = read_profile(Path(measured.file))
        return [with_profile(platform, measured, profile) for platform in platforms]
    return [calibrated_to(platform, measured) for platform in platforms]


def calibrated_to(platform: Platform, anchor: CalibrationPoint) -> Platform:
    """Return the platform calibrated to a phone; HexsimError if it has no tensor processor."""
    if platform.chip.htp_table is None:
        raise HexsimError(
            f"{spelled('anchor')} with a latency calibrates a tensor processor, and chip "
            f"{platform.chip.name} has none; give the profile of a phone (NETWORK=FILE), or fit "
            "the chip to measured "
            "rows with hexsim calibrate"
        )
    model = load_container(anchor.network).model
    platform.chip.require(anchor.runtime)
    platform.stack.require(anchor.runtime)
    as_stated, at_half = (
        Deployment(model, platform.at_pace(slower, anchor), anchor.runtime).simulate().total_ps
        for slower in (1.0, 2.0)
    )
    # The call from the CPU takes as long at any pace, so the time is a straight line, not a ratio.
    scaled_ps = at_half - as_stated
    if not scaled_ps:
        raise HexsimError(f"network '{anchor.network}' takes no time; anchor at one with layers")
    fixed_ps = as_stated - scaled_ps
    slower = (anchor.ms * PS_PER_MS - fixed_ps) / scaled_ps
    if slower <= 0:
        raise HexsimError(
            f"{anchor.ms:g} ms for '{anchor.network}' are less than the "
            f"{figure(fixed_ps / PS_PER_MS)} ms that calls from the CPU and its layers take; check "
            "the latency, or anchor at a larger network"
        )
    return platform.at_pace(slower, anchor)


def with_profile(platform: Platform, anchor: CalibrationProfile, profile: PhoneProfile) -> Platform:
    """Return the platform with a factor for each class of layers of `profile`, whose network is
    that of `anchor`.

    Raises HexsimError if no run of the profile is of a runtime of the platform, and if no layer is
    one of the network.
    """
    container = load_container(anchor.network)
    model = SourceModel(anchor.network, container, platform, Preparation(quantize=True))
    classes = _classes(platform, model, profile, anchor.runtime)
    return platform.with_layer_factors(replace(anchor, classes=tuple(classes)))


def _classes(
    platform: Platform, model: SourceModel, profile: PhoneProfile, chosen: Runtime | None
) -> Iterator[ClassFactor]:
    """Yield the factors on the runtime `chosen`, or on each that the profile has."""
    there = [runtime_here(run, platform.runtimes, None) for run in profile.runs]
    known = [runtime for runtime in platform.runtimes if runtime in there]
    for runtime in (chosen,) if chosen else known or (None,):
        run, here = selected_run(profile, platform.runtimes, runtime, None)
        deployment, timing, used = simulated_beside(profile, run, model, here)
        compared = compare_profile(profile, run, deployment, timing, used)
        on_engine = {layer.name for layer in timing.layers if layer.engine == MAIN_ENGINE[here]}
        layers = (
            LayerTimes(pair.layer_class, pair.measured_us, pair.simulated_us)
            for pair in compared.layers
            if pair.name in on_engine
        )
        yield from class_factors(here, layers)
