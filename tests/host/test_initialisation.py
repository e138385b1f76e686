from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from msgspec import structs

from hexsim.api.model import load
from hexsim.datasheets import stacks
from hexsim.host.initialisation import initialisation, loading_bytes, release
from hexsim.layers import Opaque
from hexsim.planning.load_rules import RULES, load_rule
from hexsim.planning.plan import Plan
from hexsim.planning.planner import make_plan
from hexsim.quantization.model import Model
from tests.deployed import deployed, planned
from tests.mixed import mixed
from tests.small_networks import Sketch, plan

STACK = stacks.load("snpe-1.30")


def parts(runtime: str, *, quantized: bool) -> dict[str, float]:
    net = Sketch((1, 8, 8, 32))
    network = net.network(net.dense(net.conv("in", 32), 10))
    planned = plan(network, runtime)  # type: ignore[arg-type]
    if quantized:
        planned = replace(planned, quantized=True, stored_bytes=planned.stored_bytes // 4)
    result = initialisation(planned, STACK, STACK.profile())
    now = 0
    for part in result:
        assert part.start_ps == now
        now += part.duration_ps
    return {part.name: part.duration_ps / 1e12 for part in result}


WEIGHTS = 32 * 32 + 8 * 8 * 32 * 10


def test_a_float_file_on_the_dsp_is_quantized_at_load() -> None:
    taken = parts("dsp", quantized=False)
    assert list(taken) == ["load", "deserialize", "quantize", "create", "rpc_init"]
    assert taken["load"] == pytest.approx(4 * WEIGHTS / STACK.load.file_bytes_per_s)
    assert taken["quantize"] == pytest.approx(WEIGHTS * STACK.load.quantize_s_per_element)
    assert taken["create"] == pytest.approx(2 * STACK.load.create_s_per_layer)


def test_a_quantized_file_loads_a_quarter_of_the_bytes() -> None:
    assert parts("dsp", quantized=True)["load"] == pytest.approx(
        parts("dsp", quantized=False)["load"] / 4
    )
    assert "quantize" not in parts("dsp", quantized=True)


def test_float_runtimes_dequantize_and_need_no_remote_call() -> None:
    assert list(parts("cpu", quantized=True)) == ["load", "deserialize", "dequantize", "create"]
    assert list(parts("gpu", quantized=False)) == ["load", "deserialize", "create"]


def test_what_falls_back_to_the_cpu_is_not_quantized_but_dequantized() -> None:
    net = Sketch((1, 8, 8, 32))
    early = net.add(Opaque, net.conv("in", 32), op_type="Erf", node=b"", shapes=((1, 8, 8, 32),))
    network = net.network(net.dense(early, 10))
    cuts = deployed(network, "dsp").subnets
    fallback = replace(cuts[1], layers=(*cuts[1].layers, *cuts[2].layers))
    floats = make_plan(Model(network), "dsp", [cuts[0], fallback])
    codes = replace(floats, quantized=True)
    profile = STACK.profile()
    (quantized,) = (p for p in initialisation(floats, STACK, profile) if p.name == "quantize")
    (back,) = (p for p in initialisation(codes, STACK, profile) if p.name == "dequantize")
    load = STACK.load
    assert quantized.duration_ps / 1e12 == pytest.approx(32 * 32 * load.quantize_s_per_element)
    dense = 8 * 8 * 32 * 10
    assert back.duration_ps / 1e12 == pytest.approx(dense * load.dequantize_s_per_element)


def test_weights_that_are_floats_beside_codes_are_not_dequantized() -> None:
    model = mixed()
    plan = planned(model, "dsp")
    assert "dequantize" not in {p.name for p in initialisation(plan, STACK, STACK.profile())}
    on_cpu = planned(model, "cpu")
    parts = {p.name: p for p in initialisation(on_cpu, STACK, STACK.profile())}
    codes = 2 * (3 * 3 * 4 * 4 + 4)  # of conv1 and conv3, not of conv2
    load = STACK.load
    saved = 4 * model.network.total_parameters - on_cpu.stored_bytes
    reading = saved * (1 / load.file_bytes_per_s + load.deserialize_s_per_byte)
    assert parts["dequantize"].duration_ps / 1e12 == pytest.approx(
        codes * load.dequantize_s_per_element + reading
    )


def test_tearing_down_frees_the_layers_and_calls_the_dsp_again() -> None:
    net = Sketch((1, 8, 8, 32))
    network = net.network(net.dense(net.conv("in", 32), 10))
    profile = STACK.profile()
    ends = {
        runtime: release(plan(network, runtime), STACK, profile)  # type: ignore[arg-type]
        for runtime in ("cpu", "dsp")
    }
    load = STACK.load
    (freed,) = ends["cpu"]
    expected = 2 * load.create_s_per_layer * load.release_share
    assert (freed.name, freed.duration_ps / 1e12) == ("release", pytest.approx(expected))
    again, call = ends["dsp"]
    (created,) = (p for p in initialisation(plan(network), STACK, profile) if p.name == "rpc_init")
    assert (again, call.name) == (freed, "rpc_release")
    assert (call.start_ps, call.duration_ps) == (freed.duration_ps, created.duration_ps)


EXTREMES = (
    {},
    {"file_bytes_per_s": 1e6, "deserialize_s_per_byte": 1e-6},
    {"file_bytes_per_s": 1e6, "dequantize_s_per_element": 1e-11, "quantize_s_per_element": 1e-11},
    {"file_bytes_per_s": 1e12, "deserialize_s_per_byte": 1e-15},
)


def length_s(plan: Plan, constants: Mapping[str, float]) -> float:
    """Initialisation with other constants of loading, in seconds."""
    stack = structs.replace(STACK, load=structs.replace(STACK.load, **constants))
    return sum(part.duration_ps for part in initialisation(plan, stack, stack.profile())) / 1e12


@pytest.mark.parametrize("constants", EXTREMES)
@pytest.mark.parametrize(
    "name", ["alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1"]
)
def test_converting_weights_takes_longer_than_loading_them_as_they_are(
    name: str, constants: Mapping[str, float]
) -> None:
    """SNPE's guide: cpu and gpu take longer for a quantised file, dsp for a float one.

    A runtime that refuses a file is in test_load_rules.py; it has nothing to compare.
    """
    network = load(name).network
    for runtime in ("cpu", "gpu", "gpu_fp16", "dsp"):
        floats = planned(Model(network), runtime).of_float_file()
        float_s = length_s(floats, constants)
        for bits in (4, 8, 16):
            stored = network.total_parameters * bits // 8
            codes = replace(floats, quantized=True, stored_bytes=stored)
            if runtime == "dsp":
                assert float_s > length_s(codes, constants)
            else:
                assert length_s(codes, constants) > float_s


def test_every_rule_of_loading_has_its_length() -> None:
    """Rule by rule: what is native takes no time on top, what is converted does."""
    network = Sketch((1, 8, 8, 32))
    model = Model(network.network(network.conv("in", 32)))
    for rule in RULES:
        for runtime in rule.runtimes - {"htp", "htp_fp16"}:
            if load_rule(runtime, STACK, quantized=rule.quantized) != rule:
                continue
            taken = replace(planned(model, runtime), quantized=rule.quantized)
            names = {part.name for part in initialisation(taken, STACK, STACK.profile())}
            converted = names & {"quantize", "dequantize"}
            words = {"quantise": {"quantize"}, "dequantise": {"dequantize"}, "native": set()}
            if rule.effect != "refuse":
                assert converted == words[rule.effect], (runtime, rule.sentence)


def test_a_quantised_file_needs_less_memory_on_the_dsp_and_more_on_the_cpu() -> None:
    """In bytes of a weight: the file's, the runtime's, and what kernels read."""
    net = Sketch((1, 8, 8, 32))
    network = net.network(net.dense(net.conv("in", 32), 10))

    def loads(runtime: str, held: int, *, quantized: bool) -> list[float]:
        planned = plan(network, runtime)  # type: ignore[arg-type]
        stored = WEIGHTS * (1 if quantized else 4)
        planned = replace(planned, quantized=quantized, stored_bytes=stored)
        bytes_ = loading_bytes(planned, STACK, held * WEIGHTS, WEIGHTS if runtime == "dsp" else 0)
        return [size / WEIGHTS for size in (bytes_.low, bytes_.value, bytes_.high)]

    assert loads("dsp", 1, quantized=True) == [2, 2, 3]
    assert loads("dsp", 1, quantized=False) == [2, 6, 10]
    assert loads("cpu", 4, quantized=False) == [4, 4, 8]
    assert loads("cpu", 4, quantized=True) == [4, 5, 6]
    assert loads("gpu", 2, quantized=False) == [2, 6, 10]
