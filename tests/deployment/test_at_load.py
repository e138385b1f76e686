"""A float network is quantised once at load, when values are first asked for."""

from __future__ import annotations

from hexsim.deployment import AtLoad, deploy
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import FloatArray
from hexsim.inputs.seeded import seeded_calibration
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import IntegerOverride, Overrides, Range
from tests.mixed import chain, feeds

SD835, SD855 = Platform.load("sd835"), Platform.load("sd855")


def test_several_deployments_share_one_quantizing_that_waits_for_values() -> None:
    asked: list[int] = []

    def calibration() -> list[dict[str, FloatArray]]:
        asked.append(1)
        return feeds()

    at_load = AtLoad(chain(), SD835, calibration)
    first, second = (deploy(Model(chain()), SD835, "dsp", at_load=at_load) for _ in range(2))
    assert first.plan.subnets == second.plan.subnets
    assert first.simulate().total_ps > 0
    assert not asked, "shapes are enough for a plan"
    assert first.loaded is second.loaded is at_load.model
    first.executor().run(feeds(1)[0])
    assert len(asked) == 1
    assert first.loaded.quantized


def test_seeded_inputs_unless_others_are_given() -> None:
    seeded = SD835.quantize(chain(), seeded_calibration(chain()))
    assert AtLoad(chain(), SD835).model.activations == seeded.activations
    given = SD835.quantize(chain(), feeds())
    assert AtLoad(chain(), SD835, feeds).model.activations == given.activations
    assert given.activations != seeded.activations
    deployment = deploy(Model(chain()), SD835, "dsp")
    assert deployment.loaded.activations == seeded.activations


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

    at_load = AtLoad(chain(), SD855, calibration)
    floats = Model(chain())
    codes = SD855.quantize(chain(), feeds())
    assert deploy(floats, SD855, "cpu", at_load=at_load).loaded is floats
    assert deploy(codes, SD855, "dsp", at_load=at_load).loaded is codes


def test_for_times_alone_nothing_is_calibrated_and_the_plan_is_the_same() -> None:
    def calibration() -> list[dict[str, FloatArray]]:
        raise AssertionError("times do not depend on it")

    calibrated = AtLoad(chain(), SD835, feeds).model
    alone = AtLoad(chain(), SD835, calibration, times_only=True).model
    assert alone.activations.keys() == calibrated.activations.keys()
    assert alone.activations != calibrated.activations
    assert alone.parameters == calibrated.parameters
    plans = [deploy(model, SD835, "fxp_cpu").plan for model in (alone, calibrated)]
    assert plans[0].timed == plans[1].timed
    assert plans[0].stored_bytes == plans[1].stored_bytes
