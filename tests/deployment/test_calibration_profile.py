"""A phone's profile gives a factor for each class of layers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest

import hexsim
from hexsim.datasheets.datasheet_text import datasheet_text
from hexsim.deployment import Deployment
from hexsim.deployment.calibrated import anchored, parsed
from hexsim.deployment.calibration_profile import (
    CalibrationProfile,
    ClassFactor,
    LayerTimes,
    class_factors,
)
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.runtimes import Runtime
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
