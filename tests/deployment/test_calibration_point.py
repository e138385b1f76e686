"""A phone's pace from one latency."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import hexsim
from hexsim.datasheets.chips.chip import PACE
from hexsim.deployment import Deployment
from hexsim.deployment.calibrated import anchored, calibrated_to
from hexsim.deployment.calibration_point import CalibrationPoint
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.runtimes import Runtime
from hexsim.studies.uncertainty import draws, sweep


def _us(platform: Platform, network: str, runtime: Runtime) -> float:
    return Deployment(hexsim.load(network), platform, runtime).simulate().total_us


@pytest.mark.parametrize("text", ["resnet18_hub=0.5", "resnet18_hub@htp_fp16=2"])
def test_the_anchor_takes_what_was_measured_and_all_keep_their_shape(text: str) -> None:
    plain, anchor = Platform.load("qcs8550"), CalibrationPoint.parse(text)
    phone = calibrated_to(plain, anchor)
    assert str(anchor) == text
    assert _us(phone, anchor.network, anchor.runtime) == pytest.approx(1e3 * anchor.ms, rel=1e-5)
    runtimes: tuple[Runtime, ...] = ("htp", "htp_fp16")
    slower = [
        _us(phone, name, runtime) / _us(plain, name, runtime)
        for name in ("resnet18_hub", "squeezenet1_1")
        for runtime in runtimes
    ]
    assert slower == pytest.approx([slower[0]] * 4, rel=1e-5)


def test_the_heading_and_the_constants_name_it_with_its_error() -> None:
    """Half a digit of 0.50 is 1 %; beside it 1 % of repetition, 5 % of releases, 22 % of the model.

    The square root of .01^2 + .01^2 + .05^2 + .22^2 is 0.226.
    """
    phone = calibrated_to(Platform.load("sd8gen3"), CalibrationPoint.parse("resnet18_hub=0.50"))
    own = "(itself off by up to 23%)"
    assert phone.software == f"qnn-2.43 with anchor resnet18_hub=0.50 {own}"
    assert phone.with_ideal_cpu().software == f"{phone.software} and an ideal CPU"
    constants = dict(phone.chip.quantities())
    for path in ("htp.clock_hz", "memory.ddr_peak_bytes_per_s"):
        constant = constants[path]
        assert constant.source == "anchor resnet18_hub=0.50"
        assert constant.low is not None
        assert constant.high is not None
        assert constant.high / constant.value == pytest.approx(math.exp(0.22605), rel=1e-4)
        assert constant.value / constant.low == pytest.approx(math.exp(0.22605), rel=1e-4)
    pace = constants["htp.pace"]
    assert pace.low == pace.high == pace.value, "the factor has taken its error in"


@pytest.mark.parametrize(
    ("text", "error"), [("a=2", 0.25), ("a=2.0", 0.025), ("a=20e-1", 0.025), ("a=0.125", 0.004)]
)
def test_its_last_digit_says_how_it_was_rounded(text: str, error: float) -> None:
    anchor = CalibrationPoint.parse(text)
    assert anchor.causes["rounding"].value == pytest.approx(error)
    assert str(anchor) == text
    assert all(cause.unit == "1" and cause.source for cause in anchor.causes.values())
    assert anchor.error == pytest.approx(math.hypot(error, 0.01, 0.05, 0.22))


def test_intervals_of_anchored_times_contain_its_error() -> None:
    """Clock and DDR move together: both ends of a time are at the ends of the one factor."""
    phone = calibrated_to(Platform.load("qcs8550"), CalibrationPoint.parse("resnet18_hub=0.50"))
    workload = Deployment(hexsim.load("squeezenet1_1"), phone, "htp_fp16").workload()
    interval = sweep(phone, lambda changed: changed.simulate(workload))
    (factor,) = (moved for moved in interval.sensitivities if moved.path in PACE)
    assert factor.logs(interval.nominal, 0) == pytest.approx((0.22605, -0.22605), rel=1e-3)
    assert math.log(interval.high.total_us / interval.nominal.total_us) > 0.226
    assert math.log(interval.nominal.total_us / interval.low.total_us) > 0.226
    stated = phone.chip
    for drawn in draws(phone, 5):
        clock = drawn.chip.htp.clock_hz / stated.htp.clock_hz
        ddr = drawn.chip.memory.ddr_peak_bytes_per_s / stated.memory.ddr_peak_bytes_per_s
        assert clock == pytest.approx(ddr)
        assert clock != 1.0


def test_a_quantised_file_is_an_anchor_as_its_network_is(tmp_path: Path) -> None:
    """The clock that follows is the same."""
    path = tmp_path / "codes.dlc"
    hexsim.save(hexsim.quantize(hexsim.load("squeezenet1_1")), path)
    plain = Platform.load("qcs8550")
    assert (
        calibrated_to(plain, CalibrationPoint(str(path), "htp", 0.3)).chip.htp.clock_hz
        == calibrated_to(plain, CalibrationPoint("squeezenet1_1", "htp", 0.3)).chip.htp.clock_hz
    )


def test_the_api_takes_it() -> None:
    simulation = hexsim.simulate("squeezenet1_1", "qcs8550", "htp_fp16", anchor="resnet18_hub=0.5")
    phone = calibrated_to(Platform.load("qcs8550"), CalibrationPoint.parse("resnet18_hub=0.5"))
    assert simulation.total_us == _us(phone, "squeezenet1_1", "htp_fp16")


@pytest.mark.parametrize("text", ["resnet50", "=1.2", "resnet50=", "resnet50=0", "resnet50=inf"])
def test_what_is_no_latency_is_refused(text: str) -> None:
    with pytest.raises(HexsimError, match=r"anchor takes NETWORK=MS, such as resnet50=1\.23"):
        CalibrationPoint.parse(text)


def test_a_chip_without_a_tensor_processor_is_refused() -> None:
    with pytest.raises(
        HexsimError,
        match=r"chip sd855 has none; give .* with hexsim calibrate",
    ):
        calibrated_to(Platform.load("sd855"), CalibrationPoint.parse("resnet50=1.23"))


def test_one_latency_is_of_one_chip() -> None:
    platforms = [Platform.load("sd8gen2"), Platform.load("sd8gen3")]
    assert anchored(platforms, None) == platforms
    with pytest.raises(HexsimError, match=r"one phone, and there are 2 chips: sd8gen2, sd8gen3"):
        anchored(platforms, "resnet50=1.23")
