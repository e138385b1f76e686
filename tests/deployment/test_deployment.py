"""One owner decides what a model becomes on a runtime: what is planned is what is computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.accuracy.layer_errors import PairedRun
from hexsim.accuracy.validation import validate
from hexsim.datasheets.chips import SignedKernels
from hexsim.deployment import AtLoad, Deployment, deploy
from hexsim.deployment.offline_hta import CompileOrder, with_hta
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.seeded import seeded_calibration
from hexsim.layers import Opaque
from hexsim.onnx_io.read.reader import read
from hexsim.passes import optimize
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, IntegerOverride, Overrides, Range
from hexsim.quantization.quantizer import quantize
from hexsim.runtimes import Runtime
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.int8.single_layer import SIGNED
from tests.mixed import chain, feeds, mixed
from tests.small_networks import Sketch

SD835, SD855 = Platform.load("sd835"), Platform.load("sd855")
SD865, OLD = Platform.load("sd865"), Platform.load("sd855", "snpe-1.23")
NARROW = Overrides({"conv1.y": IntegerOverride(8, (Range(0.0, 0.1),))})
AS_FLOAT = Overrides({"conv2.y": FloatOverride(32)})


def engines(deployment: Deployment) -> list[tuple[str, list[str]]]:
    """Engine and layers of each subnet planned."""
    subnets = deployment.plan.subnets
    return [(subnet.engine, [layer.name for layer in subnet.layers]) for subnet in subnets]


def overridden(overrides: Overrides, *, cpu_fallback: bool = True) -> Deployment:
    """The float chain on a runtime that quantises it at load."""
    at_load = AtLoad(chain(), SD835, feeds, overrides)
    return deploy(Model(chain()), SD835, "dsp", cpu_fallback=cpu_fallback, at_load=at_load)


def with_erf() -> Network:
    """A convolution, a layer for the CPU alone, a convolution; weights cannot be read."""
    net = Sketch((1, 8, 8, 3))
    first = net.conv("in", 8)
    erf = net.add(Opaque, first, op_type="Erf", node=b"", shapes=(net.shape(first),))
    return net.network(net.conv(erf, 8))


@pytest.fixture(scope="module")
def sine(onnx_model: Callable[..., onnx.ModelProto]) -> Model:
    """Conv, Sin and Conv, quantised; the second layer is one for the CPU."""
    rng = np.random.default_rng(0)
    weights = {"v": rng.normal(0, 0.3, (8, 3, 3, 3)), "w": rng.normal(0, 0.3, (4, 8, 1, 1))}
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["a"], "first", pads=[1, 1, 1, 1]),
        helper.make_node("Atan", ["a"], ["b"], "sin"),
        helper.make_node("Conv", ["b", "w"], ["y"], "last"),
    ]
    network = optimize(read(onnx_model(nodes, {"x": (1, 3, 6, 5)}, ["y"], weights)))
    return quantize(network, seeded_calibration(network, 3))


@pytest.mark.parametrize(
    ("platform", "runtime", "sentence"),
    [
        (SD835, "fxp_cpu", "is float and fxp_cpu of snpe-1.23 refuses it.*quantise it first"),
        (SD855, "aip", "is float and aip of snpe-1.30 refuses it"),
        (SD865, "dsp", "is float and dsp of qnn-2.45 refuses it: from release 2.0 on"),
        (SD835, "aip", "sd835 has no aip runtime"),
        (SD865, "fxp_cpu", "stack qnn-2.45 has no fxp_cpu runtime"),
    ],
)
def test_what_does_not_take_a_float_model_refuses_it(
    platform: Platform, runtime: Runtime, sentence: str
) -> None:
    with pytest.raises(HexsimError, match=sentence):
        deploy(Model(chain()), platform, runtime)


def test_bit_widths_that_a_chip_lacks_are_refused() -> None:
    wide = quantize(chain(), feeds(), QuantizationOptions(activation_bits=16))
    with pytest.raises(HexsimError, match="16-bit activations, and dsp of chip sd835"):
        deploy(wide, SD835, "dsp")


def test_bit_widths_of_an_override_at_load_are_refused_too() -> None:
    wide = Overrides({"conv1.y": IntegerOverride(16, (Range(0.0, 1.0),))})
    with pytest.raises(HexsimError, match=r"'conv1\.y' has 16-bit activations, and dsp"):
        overridden(wide)


@pytest.mark.parametrize(
    ("model", "runtime", "why"),
    [(mixed(), "dsp", "quantised already on dsp"), (Model(chain()), "cpu", "not quantised at")],
)
def test_overrides_that_nothing_would_apply_are_refused(
    model: Model, runtime: Runtime, why: str
) -> None:
    with pytest.raises(HexsimError, match=f"'chain' is {why}.*leave them out"):
        deploy(model, SD835, runtime, at_load=AtLoad(model.network, SD835, overrides=NARROW))


def test_a_layer_must_not_fall_back_unless_that_is_allowed() -> None:
    model = Model(with_erf())
    assert [engine for engine, _ in engines(deploy(model, SD835, "dsp"))] == ["hvx", "cpu", "hvx"]
    with pytest.raises(HexsimError, match=r"'opaque1' \(Erf\) cannot run on dsp"):
        deploy(model, SD835, "dsp", cpu_fallback=False)


def test_a_float_file_is_planned_and_timed_without_a_weight() -> None:
    deployment = deploy(Model(with_erf()), SD835, "dsp")
    assert deployment.quantizes
    assert not deployment.plan.quantized
    assert deployment.plan.stored_bytes == 4 * with_erf().total_parameters
    assert deployment.simulate().init_part_ps("quantize") > 0


def test_a_float_file_has_the_calls_of_what_it_becomes_at_load() -> None:
    floats = deploy(Model(chain()), SD835, "dsp", at_load=AtLoad(chain(), SD835, feeds))
    codes = deploy(floats.loaded, SD835, "dsp")
    assert not codes.quantizes
    assert codes.plan.quantized
    assert codes.plan.stored_bytes < floats.plan.stored_bytes / 3
    assert codes.plan.subnets == floats.plan.subnets
    assert floats.simulate().total_ps == codes.simulate().total_ps
    (feed,) = feeds(1)
    at_load, from_file = (
        deployment.executor().run(feed)["conv3.y"] for deployment in (floats, codes)
    )
    np.testing.assert_array_equal(at_load, from_file)


def test_overrides_are_applied_at_load_and_reported() -> None:
    plain, narrow = overridden(Overrides()), overridden(NARROW)
    assert narrow.loaded.activations["conv1.y"].max == pytest.approx(0.1, rel=0.01)
    assert plain.loaded.activations["conv1.y"].max > 0.5
    assert [(override.key, override.outcome) for override in narrow.overrides] == [
        ("conv1.y", "applied")
    ]
    assert plain.overrides == ()
    assert engines(narrow) == engines(plain)


def test_overrides_that_make_a_layer_float_are_in_plan_network_and_answers() -> None:
    deployment, by_hand = (
        overridden(AS_FLOAT),
        deployed(quantize(chain(), feeds(), None, lambda done: None, AS_FLOAT)),
    )
    assert engines(deployment) == engines(by_hand)
    assert [engine for engine, _ in engines(deployment)] == ["hvx", "cpu", "hvx"]
    assert deployment.network.layers == by_hand.network.layers
    assert not deployment.plan.quantized
    assert deployment.simulate().init_part_ps("quantize") > 0
    (feed,) = feeds(1)
    expected = by_hand.executor().run(feed)["conv3.y"]
    for variant in (deployment, deployment.observing(["conv1.y", "conv3.y"])):
        np.testing.assert_array_equal(variant.executor().run(feed)["conv3.y"], expected)
    with pytest.raises(HexsimError, match="cannot run on dsp"):
        _ = overridden(AS_FLOAT, cpu_fallback=False).plan


def test_observed_tensors_are_outputs_and_change_nothing_else() -> None:
    model, (feed, *_) = culprits.quantized(), culprits.inputs()
    whole = deployed(model, "aip", "sd855", sections=[["c1", "c2"]])
    names = [layer.output for layer in model.network.layers]
    observed = whole.observing(names)
    assert observed.network.outputs == tuple(names)
    assert engines(observed) == engines(whole)
    outputs = observed.executor().run(feed)
    assert list(outputs) == names
    np.testing.assert_array_equal(outputs["scores"], whole.executor().run(feed)["scores"])


def test_a_part_of_the_network_is_cut_as_the_whole() -> None:
    network = culprits.network()
    part = network.subnetwork(network.layers[:3], network.inputs, ("c2.out",))
    whole = deployed(culprits.quantized(), "aip", "sd855", sections=[["c1", "c2", "c3"], ["fc"]])
    assert engines(whole.over(part)) == [("hvx", ["c0"]), ("hta", ["c1", "c2"])]


def test_what_is_observed_of_a_float_file_is_quantized_whole() -> None:
    """And once: the first part of the network alone would have other ranges on other inputs."""
    asked: list[int] = []

    def calibration() -> list[dict[str, FloatArray]]:
        asked.append(1)
        return feeds()

    deployment = deploy(Model(chain()), SD835, "dsp", at_load=AtLoad(chain(), SD835, calibration))
    first = deployment.observing(["conv1.y"])
    again = first.observing(["tanh.y"])
    assert first.model.activations == deployment.loaded.activations
    assert len(asked) == 1
    for repeated in (first, again):
        assert not repeated.quantizes
        assert not repeated.plan.quantized, "the file still holds floats"
        assert repeated.plan.stored_bytes == deployment.plan.stored_bytes


@pytest.mark.parametrize("compiled", [False, True])
def test_under_the_old_rules_validate_plans_what_run_plans(sine: Model, compiled: bool) -> None:
    """Behind Sin all is the CPU's, whatever tensors one looks at."""
    model = with_hta(sine, CompileOrder(OLD.chip, OLD.stack)) if compiled else sine
    deployment = deploy(model, OLD, "aip")
    names = [layer.output for layer in sine.network.layers]
    cut = engines(deployment)
    assert cut[0] == ("hta", ["first"]) if compiled else cut[0][0] == "hvx"
    assert (cut[-1][0], cut[-1][1][0], cut[-1][1][-1]) == ("cpu", "sin", "last")
    assert engines(deployment.observing(names)) == cut
    (feed,) = seeded_calibration(sine.network, 1, seed=5)
    paired = PairedRun(deployment)
    on_aip = {"x", *names[: names.index("b")]}
    assert {name for name, runtime in paired.runtimes.items() if runtime == "aip"} == on_aip
    np.testing.assert_array_equal(paired.run(feed)[1]["y"], deployment.executor().run(feed)["y"])
    runtimes = {layer.tensor: layer.runtime for layer in validate(deployment, [feed]).layers}
    assert (runtimes["a"], runtimes["b"], runtimes["y"]) == ("aip", "cpu", "cpu")


def test_observing_does_not_partition_anew() -> None:
    """The old rules want one output of a subnet; what is observed besides does not count."""
    whole = deploy(culprits.quantized(), OLD, "aip")
    everything = ["c0", "c1", "c2", "c3", "fc"]
    assert engines(whole) == [("hvx", everything)]
    names = [layer.output for layer in whole.network.layers]
    assert engines(whole.observing(names)) == [("hvx", everything)]


def test_sections_are_those_of_the_model_for_the_chip_unless_others_are_given() -> None:
    model = with_hta(culprits.quantized(), CompileOrder(SD855.chip, SD855.stack, ((1, 2),)))
    mine, other = deploy(model, SD855, "aip"), deploy(model, SD865, "aip")
    assert mine.on_hta == {"c0", "c1"}
    assert other.on_hta == frozenset()
    assert mine.with_sections([["c1"], ["c3", "fc"]]).on_hta == {"c1", "c3", "fc"}
    assert mine.with_sections([]).on_hta == frozenset()
    assert deploy(model, SD855, "dsp").on_hta == frozenset()


def test_sections_obey_the_rules_of_the_stack_unless_others_are_given() -> None:
    on_old = deploy(culprits.quantized(), OLD, "aip")
    several = [["c0"], ["c2"]]
    with pytest.raises(HexsimError, match=r"not those of the 1\.23 rules"):
        on_old.with_sections(several)
    assert on_old.with_sections(several, rules="1.25+").on_hta == {"c0", "c2"}


@pytest.mark.parametrize("runtime", ["cpu", "fxp_cpu", "gpu", "dsp", "aip"])
def test_weights_are_signed_on_hvx_from_v65_on(runtime: Runtime) -> None:
    """Those of dense convolutions, not those of the fully connected layer."""
    model, on_hvx = culprits.quantized(), runtime in ("dsp", "aip")
    dense = {"c0", "c1", "c2", "c3"} if on_hvx else set()
    assert deployed(model, runtime, "sd855").signed_layers == dense
    assert not deployed(model, runtime, "sd835").signed_layers


@pytest.mark.parametrize(
    ("chip", "kernels", "others"), [("sd835", None, SIGNED), ("sd855", SIGNED, None)]
)
def test_the_kernels_multiply_as_the_chip_does(
    chip: str, kernels: SignedKernels | None, others: SignedKernels | None
) -> None:
    model, (feed, *_) = culprits.quantized("outlier"), culprits.inputs()
    deployment = deployed(model, "dsp", chip)
    got, same, other = (
        executor.run(feed)["scores"]
        for executor in (
            deployment.executor(),
            PlanExecutor(deployment.plan, model, signed_kernels=kernels),
            PlanExecutor(deployment.plan, model, signed_kernels=others),
        )
    )
    np.testing.assert_array_equal(got, same)
    assert not np.array_equal(got, other)


def test_on_another_platform_the_cut_stays_and_the_time_changes() -> None:
    here = deployed(culprits.quantized(), "aip", "sd855", sections=[["c0"]])
    stack = SD855.stack.with_value("partitioning.hta_subnet_s", 1.0)
    there = here.on(Platform(SD855.chip, stack))
    assert engines(there) == engines(here)
    assert there.simulate().total_us > here.simulate().total_us + 0.9e6
