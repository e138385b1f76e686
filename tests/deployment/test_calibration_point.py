"""A phone's pace from one latency."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexsim
from hexsim.deployment import Deployment
from hexsim.deployment.calibration_point import CalibrationPoint, calibrated_to
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.runtimes import Runtime


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


def test_the_heading_and_the_constants_name_it() -> None:
    phone = calibrated_to(Platform.load("sd8gen3"), CalibrationPoint.parse("resnet18_hub=0.5"))
    assert phone.software == "qnn-2.43 with --anchor resnet18_hub=0.5"
    assert phone.with_ideal_cpu().software == f"{phone.software} and --ideal-cpu"
    clock = dict(phone.chip.quantities())["htp.clock_hz"]
    assert clock.source == "--anchor resnet18_hub=0.5"
    assert clock.low == clock.high == clock.value


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
    found = hexsim.simulate("squeezenet1_1", "qcs8550", "htp_fp16", anchor="resnet18_hub=0.5")
    phone = calibrated_to(Platform.load("qcs8550"), CalibrationPoint.parse("resnet18_hub=0.5"))
    assert found.total_us == _us(phone, "squeezenet1_1", "htp_fp16")


@pytest.mark.parametrize("text", ["resnet50", "=1.2", "resnet50=", "resnet50=0", "resnet50=inf"])
def test_what_is_no_latency_is_refused(text: str) -> None:
    with pytest.raises(HexsimError, match=r"--anchor takes NETWORK=MS, such as resnet50=1\.23"):
        CalibrationPoint.parse(text)


def test_a_chip_without_a_tensor_processor_is_refused() -> None:
    with pytest.raises(HexsimError, match=r"chip sd855 has none; fit it .* with hexsim calibrate"):
        calibrated_to(Platform.load("sd855"), CalibrationPoint.parse("resnet50=1.23"))
