"""A float network is quantised once at load, when values are first asked for."""

from __future__ import annotations

import pytest

from hexsim.deployment import AtLoad, at_load, deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import IntegerOverride, Overrides, Range
from tests.mixed import chain, feeds

SD835, SD855 = Platform.load("sd835"), Platform.load("sd855")


def test_several_deployments_share_one_quantizing_that_waits_for_values() -> None:
    asked: list[int] = []

    def calibration() -> list[dict[str, FloatArray]]:
        asked.append(1)
        return feeds()

    loading = AtLoad(chain(), SD835, calibration)
    first, second = (deploy(Model(chain()), SD835, "dsp", at_load=loading) for _ in range(2))
    assert first.plan.subnets == second.plan.subnets
    assert first.simulate().total_ps > 0
    assert not asked, "shapes are enough for a plan"
    assert first.loaded is second.loaded is loading.model
    first.executor().run(feeds(1)[0])
    assert len(asked) == 1
    assert first.loaded.quantized


def test_ranges_are_those_of_the_inputs_that_are_run() -> None:
    given = SD835.quantize(chain(), feeds())
    assert AtLoad(chain(), SD835, feeds).model.activations == given.activations
    deployment = deploy(Model(chain()), SD835, "dsp")
    assert deployment.run_on(feeds).loaded.activations == given.activations
    calibrated = deploy(Model(chain()), SD835, "dsp", at_load=AtLoad(chain(), SD835, feeds))
    on_others = calibrated.run_on(lambda: feeds(1))
    assert on_others.loaded.activations == given.activations, "others calibrate already"


def test_of_a_long_list_the_first_inputs_calibrate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at_load, "MOST_INPUTS", 2)
    deployment = deploy(Model(chain()), SD835, "dsp").run_on(feeds)
    assert deployment.loaded.activations == SD835.quantize(chain(), feeds(2)).activations


def test_without_inputs_there_are_times_and_no_values() -> None:
    deployment = deploy(Model(chain()), SD835, "dsp")
    assert deployment.simulate().total_ps > 0
    for without in (deployment, deployment.observing(["conv1.y"])):
        with pytest.raises(HexsimError, match="range of tensor 'in' of network 'chain' is unknown"):
            without.executor()


def test_overrides_count_and_what_became_of_them_is_kept() -> None:
    narrow = Overrides({"tanh.y": IntegerOverride(8, (Range(-2.0, 2.0),))})
    model = AtLoad(chain(), SD835, feeds, narrow).model
    assert model.activations["tanh.y"].max > 1.9
    assert [(override.key, override.outcome) for override in model.overrides] == [
        ("tanh.y", "applied")
    ]


def test_who_takes_floats_or_codes_as_they_are_quantizes_nothing() -> None:
    def calibration() -> list[dict[str, FloatArray]]:
        raise AssertionError("nobody asked for it")

    loading = AtLoad(chain(), SD855, calibration)
    floats = Model(chain())
    codes = SD855.quantize(chain(), feeds())
    assert deploy(floats, SD855, "cpu", at_load=loading).loaded is floats
    assert deploy(codes, SD855, "dsp", at_load=loading).loaded is codes


def test_for_times_alone_nothing_is_calibrated_and_the_plan_is_the_same() -> None:
    def calibration() -> list[dict[str, FloatArray]]:
        raise AssertionError("times do not depend on it")

    assert deploy(Model(chain()), SD835, "dsp").run_on(calibration).simulate().total_ps > 0
    calibrated = AtLoad(chain(), SD835, feeds).model
    alone = AtLoad(chain(), SD835).model
    assert set(alone.uncalibrated) == set(calibrated.activations)
    assert alone.activations.keys() == calibrated.activations.keys()
    assert alone.activations != calibrated.activations
    assert alone.parameters == calibrated.parameters
    plans = [deploy(model, SD835, "fxp_cpu").plan for model in (alone, calibrated)]
    assert plans[0].timed == plans[1].timed
    assert plans[0].stored_bytes == plans[1].stored_bytes
