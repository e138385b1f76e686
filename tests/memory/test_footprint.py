"""Footprints of networks: by hand for small ones, by what must hold for any."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.dlc.loading import load
from hexsim.graph.ir import Network
from hexsim.hta.layout import tensor_bytes
from hexsim.memory.engines import SCRATCH_BYTES, d32_bytes
from hexsim.runtimes import Runtime
from tests.deployed import deployed
from tests.entry_points.examples import examples
from tests.mixed import mixed
from tests.small_networks import Sketch, networks
from tests.thorough import THOROUGH
from tests.thorough import examples as many

RUNTIMES: tuple[Runtime, ...] = ("cpu", "fxp_cpu", "gpu", "dsp", "aip")


def small() -> Network:
    """A convolution of 16 to 64 channels over 8x8 pixels, then ten classes."""
    sketch = Sketch((1, 8, 8, 16))
    return sketch.network(sketch.dense(sketch.conv("in", 64, 3), 10))


def test_a_small_network_on_the_dsp_by_hand() -> None:
    """The arena is, in turn: codes of the input, its d32, the convolution's result; classes."""
    footprint = deployed(small()).memory("float")
    source, made, classes = 16 * 12 * 32 + 256, 16 * 12 * 64 + 256, 128 + 256
    conv, dense = footprint.layers
    assert (conv.weight_bytes, dense.weight_bytes) == (3 * 3 * 16 * 64, 4096 * 10)
    assert conv.packed_bytes == 2 * 32 * (3 * 3 * 32 + 4)
    assert dense.packed_bytes == 32 * (4096 + 4)
    assert (conv.live_bytes, dense.live_bytes) == (source + made, made + classes)
    assert footprint.activation_bytes == 1024 + 256 + source + made
    assert footprint.scratch_bytes == SCRATCH_BYTES
    assert footprint.handed_bytes == footprint.application_bytes == (1024 + 10) * 4
    assert footprint.largest_layer == conv.name
    assert footprint.peak_bytes == (
        sum(layer.weight_bytes + layer.packed_bytes for layer in footprint.layers)
        + footprint.activation_bytes
        + SCRATCH_BYTES
        + 2 * (1024 + 10) * 4
    )


def test_buffers_of_codes_are_the_ones_that_cross() -> None:
    footprint = deployed(small()).memory("tf8")
    assert (footprint.application_bytes, footprint.handed_bytes) == (1024 + 10, 0)


@pytest.mark.parametrize(("runtime", "code"), [("cpu", 4), ("gpu", 2), ("fxp_cpu", 1)])
def test_a_small_network_on_the_host_by_hand(runtime: Runtime, code: int) -> None:
    footprint = deployed(small(), runtime).memory("float")
    assert footprint.weight_bytes == (3 * 3 * 16 * 64 + 4096 * 10) * code
    assert [layer.live_bytes for layer in footprint.layers] == [
        (1024 + 4096) * code,
        (4096 + 10) * code,
    ]
    assert footprint.activation_bytes == (1024 + 4096) * code
    assert (footprint.packed_bytes, footprint.scratch_bytes, footprint.handed_bytes) == (0, 0, 0)


def test_the_largest_pair_of_mobilenet_is_around_its_first_pointwise_layer() -> None:
    """112x112 pixels of 32 and of 64 channels."""
    model = load("mobilenet_v1")
    pixels = 112 * 112
    for runtime, code in (("cpu", 4), ("fxp_cpu", 1)):
        footprint = deployed(model, runtime).memory()
        assert footprint.live_bytes == pixels * (32 + 64) * code
        assert footprint.largest_layer == "Conv2d_1_pointwise"
    footprint = deployed(model).memory()
    assert footprint.live_bytes == d32_bytes((1, 112, 112, 32), 1) + d32_bytes((1, 112, 112, 64), 1)


def test_vtcm_holds_weights_where_there_is_one() -> None:
    """On V66 the first group of weights is copied there; V62 has none."""
    assert deployed(small(), chip="sd835").memory().on_chip_bytes == 0
    footprint = deployed(small(), chip="sd855").memory()
    assert footprint.layers[0].on_chip_bytes == 2 * 32 * 3 * 3 * 32
    assert footprint.layers[1].on_chip_bytes == 0


def test_the_v66_build_rounds_packed_weights_up_to_a_power_of_two() -> None:
    biases = 64 * 4
    assert deployed(small(), chip="sd855").memory().layers[0].packed_bytes == 32768 + biases


def test_the_tensor_engine_keeps_activations_on_chip() -> None:
    sketch = Sketch((1, 8, 8, 32))
    network = sketch.network(sketch.conv(sketch.conv("in", 32), 32))
    names = {layer.name for layer in network.layers}
    footprint = deployed(network, "aip", "sd855", sections=[names]).memory()
    size = tensor_bytes((1, 8, 8, 32), 8)
    assert {layer.engine for layer in footprint.layers} == {"hta"}
    assert [layer.on_chip_bytes for layer in footprint.layers] == [size, size]
    assert footprint.activation_bytes == size  # the result lies where the input was
    assert footprint.scratch_bytes == 0


def test_every_call_into_the_dsp_has_buffers_of_its_own() -> None:
    """What the CPU computes between two subnets crosses back and forth as floats."""
    footprint = deployed(mixed()).memory("tf8")
    assert {layer.engine for layer in footprint.layers} == {"hvx", "cpu"}
    assert footprint.handed_bytes > 0


def test_scratch_is_that_of_the_subnet_that_runs() -> None:
    """Kernels leave nothing in it, so further subnets on the vector unit need no more."""
    subnets = deployed(mixed()).plan.subnets
    assert sum(subnet.engine == "hvx" for subnet in subnets) > 1
    assert deployed(mixed()).memory().scratch_bytes == SCRATCH_BYTES


def test_a_weight_that_two_layers_share_is_there_once() -> None:
    sketch = Sketch((1, 8, 8, 16))
    last = sketch.conv(sketch.conv("in", 16), 16)
    second = sketch.layers[1]
    sketch.layers[1] = second.replace(weight="weight0")
    footprint = deployed(sketch.network(last)).memory()
    assert [layer.weight_bytes for layer in footprint.layers] == [256, 256]
    assert footprint.weight_bytes == 256


def check_live(network: Network, runtime: Runtime) -> None:
    """Whatever a layer touches is live while it runs, and the arenas have room for it."""
    deployment = deployed(network, runtime, "sd855")
    footprint = deployment.memory()
    for layer, call in zip(footprint.layers, deployment.plan.calls(), strict=True):
        assert (layer.name, layer.engine) == (call.layer.name, call.engine)
        touched = {*call.layer.inputs, *call.layer.outputs} & network.tensors.keys()
        elements = sum(math.prod(network.shape(name)) for name in touched)
        bits = min(call.activation_bits, call.input_bits)
        assert elements * bits // 8 <= layer.live_bytes <= footprint.activation_bytes


def test_every_layer_type_finds_what_it_touches() -> None:
    """On the DSP, and what it refuses on the CPU."""
    for example in examples()[:: 1 if THOROUGH else 3]:
        check_live(example.network, "dsp")


@many(100)
@given(networks(), st.sampled_from(RUNTIMES))
def test_whatever_a_layer_touches_is_live(network: Network, runtime: Runtime) -> None:
    check_live(network, runtime)


@many(100)
@given(networks(), st.sampled_from(RUNTIMES))
def test_the_peak_is_the_sum_and_weights_are_all_there(network: Network, runtime: Runtime) -> None:
    """No constant of these networks is shared, and none has biases."""
    deployment = deployed(network, runtime, "sd855")
    footprint = deployment.memory()
    codes = {
        call.layer.name: call.weight_bits // 8 if call.computes_float else 1
        for call in deployment.plan.calls()
    }
    assert footprint.weight_bytes == sum(
        network.parameter_count(layer) * codes[layer.name] for layer in network.layers
    )
    assert footprint.weight_bytes == sum(layer.weight_bytes for layer in footprint.layers)
    assert footprint.packed_bytes == sum(layer.packed_bytes for layer in footprint.layers)
    assert (
        footprint.peak_bytes
        >= footprint.weight_bytes + footprint.packed_bytes + footprint.live_bytes
    )
    assert footprint == deployed(network, runtime, "sd855").memory()
