"""A phone's profile gives a factor for each class of layers.

A phone's pace from one latency.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

import hexsim
from hexsim.datasheets.chips import PACE
from hexsim.datasheets.datasheet import datasheet_text
from hexsim.deployment import Deployment
from hexsim.deployment.calibrated import anchored, calibrated_to, parsed
from hexsim.deployment.calibration import (
    CalibrationPoint,
    CalibrationProfile,
    ClassFactor,
    LayerTimes,
    class_factors,
)
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.runtimes import Runtime
from hexsim.simulation.htp_call import CALL
from hexsim.studies.uncertainty import draws, sweep
from hexsim.timing.results import Result

NETWORK = "ds_cnn_s"
FACTORS = {"convolutional": 1.5, "grouped convolutional": 0.7}


@pytest.fixture(scope="module")
def plain() -> Platform:
    """A chip with a tensor processor, as it is."""
    return Platform.load("sd8gen3")


@pytest.fixture(scope="module")
def option(plain: Platform, tmp_path_factory: pytest.TempPathFactory) -> str:
    """NETWORK=FILE with a profile of that chip."""
    file = profile_of(simulated(plain, "htp"), tmp_path_factory.mktemp("p") / "p.json", FACTORS)
    return f"{NETWORK}={file}"


@pytest.fixture(scope="module")
def phone(plain: Platform, option: str) -> Platform:
    """The chip, calibrated to the profile."""
    return anchored([plain], option)[0]


def simulated(platform: Platform, runtime: Runtime, network: str = NETWORK) -> Result:
    return Deployment(hexsim.load(network), platform, runtime).simulate()


def profile_of(result: Result, path: Path, factors: Mapping[str, float], unit: str = "NPU") -> str:
    """Write what a phone would say whose classes of layers take `factors` times as long."""
    detail = [
        {
            "name": layer.name,
            "compute_unit": unit,
            "execution_time": layer.us * factors.get(layer.layer_class, 1.2),
        }
        for layer in result.layers
    ]
    path.write_text(json.dumps({"execution_detail": detail}))
    return str(path)


@pytest.mark.parametrize(
    ("chip", "runtime", "unit", "close"),
    [("sd8gen3", "htp", "NPU", 2e-4), ("sd855", "cpu", "CPU", 2e-4), ("sd855", "dsp", "NPU", 0.05)],
)
def test_classes_take_what_was_measured(
    tmp_path: Path, chip: str, runtime: Runtime, unit: str, close: float
) -> None:
    """On the DSP the latency of DDR, which no factor changes, is a part of the layers."""
    plain = Platform.load(chip)
    before = simulated(plain, runtime)
    file = profile_of(before, tmp_path / "p.json", FACTORS, unit)
    (phone,) = anchored([plain], f"{NETWORK}@{runtime}={file}")
    after = {layer.name: layer for layer in simulated(phone, runtime).layers}
    for layer in before.layers:
        factor = FACTORS.get(layer.layer_class, 1.2)
        assert after[layer.name].us == pytest.approx(factor * layer.us, rel=close, abs=1e-3), layer
        assert after[layer.name].ddr_bytes == layer.ddr_bytes, "it moves the same bytes"


def test_other_networks_of_the_runtime_and_no_other_runtime_are_scaled(
    plain: Platform, phone: Platform
) -> None:
    other = simulated(phone, "htp", "resnet18_hub")
    before = {layer.name: layer for layer in simulated(plain, "htp", "resnet18_hub").layers}
    assert isinstance(phone.anchor, CalibrationProfile)
    assert phone.anchor.as_simulated("htp", other.layers) == (
        "elementwise sub",
        "elementwise product",
        "elementwise sum",
    )
    ratios = {layer.layer_class: layer.us / before[layer.name].us for layer in other.layers}
    assert ratios["elementwise sub"] == pytest.approx(1.0, rel=1e-3)
    assert ratios["pooling"] == pytest.approx(1.2, rel=1e-2)
    assert simulated(phone, "htp_fp16").total_ps == simulated(plain, "htp_fp16").total_ps


def test_the_heading_names_the_factors_and_the_constants_their_source(
    phone: Platform, option: str
) -> None:
    assert phone.software.startswith(
        f"qnn-2.43 with anchor {option} (htp: convolutional x1.50 (off by 5%), "
        "grouped convolutional x0.700 (off by 5%)"
    )
    assert phone.software.endswith("; other classes of layers as simulated)")
    constant = dict(phone.chip.quantities())["layer_factors.htp.convolutional"]
    assert constant.source == f"anchor {option}"
    assert constant.confidence == "calibrated"
    assert constant.low < constant.value < constant.high  # type: ignore[operator]


def test_intervals_contain_the_errors_of_the_factors(phone: Platform) -> None:
    workload = Deployment(hexsim.load(NETWORK), phone, "htp").workload()
    interval = sweep(phone, lambda changed: changed.simulate(workload))
    assert "layer_factors.htp.convolutional" in {
        sensitivity.path for sensitivity in interval.sensitivities
    }
    factors = {drawn.chip.layer_factor("htp", "convolutional") for drawn in draws(phone, 5)}
    assert len(factors) == 5


def test_the_api_takes_it(tmp_path: Path) -> None:
    plain = Platform.load("sd855")
    file = profile_of(simulated(plain, "cpu"), tmp_path / "p.json", FACTORS, "CPU")
    (phone,) = anchored([plain], f"{NETWORK}={file}")
    simulation = hexsim.simulate(NETWORK, "sd855", "cpu", anchor=f"{NETWORK}={file}")
    assert simulation.total_us == simulated(phone, "cpu").total_us


def _by_class(factors: tuple[ClassFactor, ...]) -> dict[str, ClassFactor]:
    return {factor.layer_class: factor for factor in factors}


def test_few_layers_and_little_time_count_less() -> None:
    """Two classes of many layers tell what a class with one layer, or a microsecond, may be."""
    layers = [LayerTimes("a", 200.5 * (1 + 0.1 * (-1) ** n), 100) for n in range(20)] + [
        LayerTimes("b", 100.5 * (1 + 0.1 * (-1) ** n), 100) for n in range(20)
    ]
    factors = _by_class(class_factors("htp", [*layers, LayerTimes("c", 50.25, 100)]))
    assert factors["a"].factor == pytest.approx(2, rel=0.02)
    assert factors["b"].factor == pytest.approx(1, rel=0.02)
    assert factors["a"].weight > 0.99 > factors["c"].weight
    overall = sum(layer.measured_us for layer in layers) / 4000
    assert factors["c"].ratio < factors["c"].factor < overall
    assert factors["c"].error > factors["a"].error
    whole = [LayerTimes(layer.layer_class, round(layer.measured_us), 100) for layer in layers]
    brief = [LayerTimes("c", 1, 2)]
    assert (
        _by_class(class_factors("htp", [*whole, *brief]))["c"].weight
        < _by_class(class_factors("htp", [*layers, *brief]))["c"].weight
    ), "a microsecond is rounded by half"


def test_one_class_has_its_own_ratio_and_a_class_without_measured_time_none() -> None:
    layers = [LayerTimes("a", 30, 10), LayerTimes("a", 10, 10), LayerTimes("b", 0, 5)]
    (factor,) = class_factors("dsp", layers)
    assert factor.factor == pytest.approx(2)
    assert factor.spread == pytest.approx(math.sqrt((math.log(1.5) ** 2 + math.log(2) ** 2) / 2))
    with pytest.raises(HexsimError, match="no layer of the profile takes time on dsp"):
        class_factors("dsp", layers[2:])


@pytest.mark.parametrize(
    ("text", "network", "runtime"),
    [
        ("a.onnx=p.json", "a.onnx", None),
        ("a@b@dsp=p.csv", "a@b", "dsp"),
        ("a@b=p.txt", "a@b", None),
    ],
)
def test_the_option_names_network_runtime_and_file(
    text: str, network: str, runtime: Runtime | None
) -> None:
    profile = parsed(text)
    assert isinstance(profile, CalibrationProfile)
    assert (profile.network, profile.runtime) == (network, runtime)
    assert str(profile) == text


@pytest.mark.parametrize(
    ("content", "network", "sentence"),
    [
        (None, NETWORK, "cannot read profile"),
        ("nothing", NETWORK, "in no known format"),
        ('{"execution_detail": []}', NETWORK, "has no times of layers"),
        ('{"execution_detail": [{"name": "z", "execution_time": 3}]}', NETWORK, "no layer of the"),
        ('{"execution_detail": [{"name": "z", "execution_time": 3}]}', "nothing", "nothing"),
    ],
)
def test_what_is_no_profile_of_the_network_is_refused(
    plain: Platform, tmp_path: Path, content: str | None, network: str, sentence: str
) -> None:
    path = tmp_path / "p.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(HexsimError, match=sentence):
        anchored([plain], f"{network}={path}")


def test_a_chip_file_keeps_the_factors(phone: Platform, tmp_path: Path) -> None:
    path = tmp_path / "phone.toml"
    path.write_text(datasheet_text(phone.chip, "My phone"))
    again = Platform.load(path)
    assert again.chip.layer_factors == phone.chip.layer_factors
    assert "grouped convolutional" in again.chip.layer_factors["htp"]
    assert simulated(again, "htp").total_ps == simulated(phone, "htp").total_ps


def _us(platform: Platform, network: str, runtime: Runtime) -> float:
    return Deployment(hexsim.load(network), platform, runtime).simulate().total_us


def _graph_us(platform: Platform, network: str, runtime: Runtime) -> float:
    """Return the time without the call from the CPU, which takes as long at any pace."""
    timing = Deployment(hexsim.load(network), platform, runtime).simulate()
    return timing.total_us - sum(part.us for part in timing.overheads if part.name == CALL)


def test_an_anchor_shorter_than_the_call_is_refused() -> None:
    with pytest.raises(HexsimError, match=r"less than the 0\.0167 ms that calls from the CPU"):
        calibrated_to(Platform.load("qcs8550"), CalibrationPoint.parse("resnet18_hub=0.016"))


@pytest.mark.parametrize("text", ["resnet18_hub=0.5", "resnet18_hub@htp_fp16=2"])
def test_the_anchor_takes_what_was_measured_and_all_keep_their_shape(text: str) -> None:
    plain, anchor = Platform.load("qcs8550"), CalibrationPoint.parse(text)
    phone = calibrated_to(plain, anchor)
    assert str(anchor) == text
    assert _us(phone, anchor.network, anchor.runtime) == pytest.approx(1e3 * anchor.ms, rel=1e-5)
    runtimes: tuple[Runtime, ...] = ("htp", "htp_fp16")
    stated = plain.at_pace(1.0, anchor)
    slower = [
        _graph_us(phone, name, runtime) / _graph_us(stated, name, runtime)
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
    call = sum(part.us for part in phone.simulate(workload).overheads if part.name == CALL)
    fixed = call / interval.nominal.total_us
    ends = [math.log(fixed + (1 - fixed) * math.exp(error)) for error in (0.22605, -0.22605)]
    assert factor.logs(interval.nominal, 0) == pytest.approx(ends, rel=1e-3)
    assert math.log(interval.high.total_us / interval.nominal.total_us) > ends[0]
    assert math.log(interval.low.total_us / interval.nominal.total_us) < ends[1]
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


def test_the_api_takes_one_latency() -> None:
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
