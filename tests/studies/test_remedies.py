"""What runs on the CPU, why, at what cost, and what would keep it on the engine."""

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given

import hexsim
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.layers import Neuron, Opaque, Permute, Reshape, Resize
from hexsim.quantization.model import Model
from hexsim.reports.pages.command_pages import most_time
from hexsim.reports.partition import partition_text
from hexsim.runtimes import Runtime
from hexsim.studies import remedies
from hexsim.studies.changes import Change, with_functions
from hexsim.studies.cuts import partition_of
from tests.deployed import deployed
from tests.dlc.made import with_weights
from tests.small_networks import Sketch, networks
from tests.thorough import examples

SD855 = Platform.load("sd855")


def _resized(*kinds: str) -> Network:
    """A convolution before and after each resize, or operator without a layer type."""
    net = Sketch((1, 8, 8, 3))
    name = net.conv("in", 8, 3)
    for kind in kinds:
        if kind in ("Erf", "Hardmax"):
            shapes = (net.shape(name),)
            name = net.add(Opaque, name, op_type=kind, node=b"", shapes=shapes)
        else:
            name = net.add(Resize, name, kind=kind, scales=(2.0, 2.0))
        name = net.conv(name, 8, 3)
    return net.network(name)


def test_a_layer_on_the_cpu_has_a_reason_a_cost_and_a_remedy() -> None:
    cut = partition_of(Model(_resized("nearest", "bilinear", "Erf")), SD855, "dsp")
    assert [piece.engine for piece in cut.pieces] == ["hvx", "cpu", "hvx", "cpu", "hvx"]
    resize, erf = sorted(cut.on_cpu, key=lambda layer: layer.subnet)
    assert (resize.type, erf.type) == ("resize", "Erf")
    assert "no resize (nearest) on the DSP" in resize.reason
    assert "no layer type" in erf.reason
    assert resize.instead == "nearest resizes as bilinear ones (other answers)"
    assert erf.instead == ""
    for layer in cut.on_cpu:
        assert min(layer.us, layer.to_cpu_us, layer.from_cpu_us) > 0
        assert layer.cost_us == pytest.approx(layer.us + layer.to_cpu_us + layer.from_cpu_us)
    text = partition_text(cut)
    assert "On the CPU: 2 of 7 layers, in 2 subnets of 5" in text
    assert "What would keep it on the engine: nearest resizes as bilinear ones" in text


def test_the_remedy_holds() -> None:
    """With bilinear resizes nothing is left to the CPU, and the time falls by the cost."""
    before = partition_of(Model(_resized("nearest")), SD855, "dsp")
    after = partition_of(Model(_resized("bilinear")), SD855, "dsp")
    assert after.on_cpu == ()
    assert "All 3 layers run on HVX" in partition_text(after)
    assert after.total_us < before.total_us
    (resize,) = before.on_cpu
    own = sum(piece.us for piece in after.pieces) - sum(
        piece.us for piece in before.pieces if piece.engine == "hvx"
    )
    saved = before.total_us - after.total_us
    assert saved == pytest.approx(resize.cost_us - own, rel=0.2)


def _activated(function: str) -> Model:
    net = Sketch((1, 8, 8, 3))
    name = net.conv(net.add(Neuron, net.conv("in", 8, 3), function=function), 8, 3)
    return Model(net.network(name))


def test_what_no_change_keeps_alone_is_tried_with_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two changes lead from one function over another to a third; others are not named."""

    def change(old: str, new: str) -> Change:
        make = partial(with_functions, {old: {"function": new}})
        return Change(f"{old} as {new}", make, same_answers=old == "erf")

    changes = [change("abs", "sin"), change("erf", "softplus"), change("softplus", "tanh")]
    monkeypatch.setattr(remedies, "_changes", lambda: iter(changes))
    (erf,) = partition_of(_activated("erf"), SD855, "dsp").on_cpu
    assert erf.instead == "erf as softplus and softplus as tanh (other answers)"
    (softplus,) = partition_of(_activated("softplus"), SD855, "dsp").on_cpu
    assert softplus.instead == "softplus as tanh (other answers)"


def _of_six_axes() -> Model:
    """A permute of a tensor with more axes than the engine takes."""
    net = Sketch((1, 8, 8, 3))
    name = net.add(Reshape, net.conv("in", 8, 3), shape=(1, 2, 2, 2, 8, 8))
    return Model(net.network(net.add(Permute, name, permutation=(0, 2, 1, 3, 5, 4))))


def test_the_order_of_axes_is_tried_where_the_engine_has_the_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = list[str]()

    def make(network: Network) -> None:
        tried.append(network.name)

    change = Change("moved", make, order_alone=True)
    monkeypatch.setattr(remedies, "_changes", lambda: iter([change]))
    assert partition_of(_activated("erf"), SD855, "dsp").on_cpu
    assert not tried
    assert partition_of(_of_six_axes(), SD855, "dsp").on_cpu
    assert tried


def test_erf_may_be_tanh() -> None:
    (erf,) = partition_of(_activated("erf"), SD855, "dsp").on_cpu
    assert erf.instead == "erf as tanh (other answers)"


def test_layers_of_every_result_say_why_they_run_on_the_cpu() -> None:
    model = Model(_resized("nearest", "bilinear"))
    (resize,) = partition_of(model, SD855, "dsp").on_cpu
    simulated = hexsim.simulate(model, chip="sd855", runtime="dsp")
    profiled = hexsim.profile(model, chip="sd855", runtime="dsp")
    for layers in (simulated.layers, profiled.layers):
        (left,) = [layer for layer in layers if layer.cpu_reason]
        assert (left.name, left.cpu_reason) == (resize.layer, resize.reason)
        assert left.instead == resize.instead == "nearest resizes as bilinear ones (other answers)"
        assert (left.us, left.to_cpu_us, left.from_cpu_us) == pytest.approx(
            (resize.us, resize.to_cpu_us, resize.from_cpu_us)
        )
    text = f"{hexsim.overview(model, chip='sd855', runtime='dsp', brief=True)}"
    (line,) = [line for line in text.splitlines() if line.startswith("on the CPU")]
    for part in (resize.reason, "to the CPU and back", resize.instead):
        assert part in line
    (lead,) = [text for text in most_time(profiled) if text.startswith("On the CPU: ")]
    assert resize.reason in lead
    assert resize.instead in lead
    on_cpu = hexsim.simulate(model, chip="sd855", runtime="cpu")
    assert {layer.cpu_reason for layer in on_cpu.layers} == {""}


@pytest.mark.filterwarnings("ignore:HTA section 1 makes aip")
@pytest.mark.parametrize(
    ("chip", "runtime"),
    [
        *(("sd855", runtime) for runtime in ("dsp", "aip", "gpu_fp16")),
        *(("sd8gen4", runtime) for runtime in ("htp_fp16", "gpu")),
        ("sd865", "gpu"),
    ],
)
def test_every_door_has_both_crossings_of_every_engine(chip: str, runtime: Runtime) -> None:
    """A layer that no engine takes: partition, result, profile, overview and bench agree."""
    platform, model = Platform.load(chip), Model(with_weights(_resized("Hardmax")))
    if runtime == "aip":  # partition chooses the sections of a model that has none
        model = hexsim.compile_hta(platform.quantize(model.network, None), chip, "1")
    (left,) = partition_of(model, platform, runtime).on_cpu
    assert min(left.us, left.to_cpu_us, left.from_cpu_us) > 0
    costs = (left.us, left.to_cpu_us, left.from_cpu_us)
    simulated = hexsim.simulate(model, chip=chip, runtime=runtime)
    profiled = hexsim.profile(model, chip=chip, runtime=runtime)
    overview = hexsim.overview(model, chip=chip, runtime=runtime, brief=True)
    bench = hexsim.benchmark(model, chip, runtime, timing_only=True)
    cases = (*overview.results, *bench.results)
    for layers in (simulated.layers, profiled.layers, *(case.layers for case in cases)):
        (layer,) = [layer for layer in layers if layer.cpu_reason]
        assert (layer.us, layer.to_cpu_us, layer.from_cpu_us) == pytest.approx(costs)


@pytest.mark.parametrize("runtime", ["dsp", "aip", "gpu", "htp_fp16", "cpu"])
@examples(12)
@given(networks())
def test_costs_are_parts_of_the_inference(runtime: Runtime, network: Network) -> None:
    chip = "sd8gen2" if runtime.startswith("htp") else "sd855"
    cut = partition_of(Model(network), Platform.load(chip), runtime)
    on_cpu = {layer.layer for layer in cut.on_cpu}
    if runtime not in ("cpu", "aip"):  # on aip chosen sections for the tensor engine take some
        subnets = deployed(network, runtime, chip).subnets
        fallbacks = (part for part in subnets if part.is_fallback)
        assert on_cpu == {layer.name for part in fallbacks for layer in part.layers}
    assert sum(layer.cost_us for layer in cut.on_cpu) <= cut.total_us * (1 + 1e-9)
    assert all(layer.reason for layer in cut.on_cpu)
    assert all(first.cost_us >= second.cost_us for first, second in pairwise(cut.on_cpu))
