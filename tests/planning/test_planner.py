"""Calls have the bit widths and shapes of what is computed; a plan reads no weight."""

import pytest

from hexsim.graph.ir import Network
from hexsim.planning.partition import partition
from hexsim.planning.plan import Plan
from hexsim.planning.planner import make_plan
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from tests.dlc.made import small_network, with_encodings
from tests.small_networks import Sketch


def _plan(model: Model, runtime: Runtime) -> Plan:
    return make_plan(model, runtime, partition(model, runtime))


def _untouched() -> Network:
    net = Sketch((1, 8, 8, 3))
    return net.network(net.dense(net.conv("in", 8, 3), 10))


@pytest.mark.parametrize(
    ("runtime", "bits", "in_floats"),
    [
        ("cpu", 32, True),
        ("gpu", 16, True),
        ("gpu_fp16", 16, True),
        ("dsp", 8, False),
        ("aip", 8, False),
        ("fxp_cpu", 8, False),
    ],
)
def test_a_float_network_is_planned_as_the_default_quantizer_leaves_it(
    runtime: Runtime, bits: int, in_floats: bool
) -> None:
    plan = _plan(Model(_untouched()), runtime)
    for call in plan.calls():
        assert (call.activation_bits, call.weight_bits, call.input_bits) == (bits, bits, bits)
        assert call.computes_float is in_floats
        assert not call.symmetric_weights
    assert (plan.quantized, plan.stored_bytes) == (False, 4 * _untouched().total_parameters)


@pytest.mark.parametrize(("axis", "bits"), [(False, 8), (False, 4), (True, 8), (True, 16)])
def test_widths_of_a_quantized_network_are_those_of_its_encodings(axis: bool, bits: int) -> None:
    network = small_network()
    model = with_encodings(network, axis, bits)
    for name in network.tensors:
        model.activations[name] = Encoding.from_range(0, 1, 16)  # type: ignore[index]
    coded, other, _, dense = _plan(model, "fxp_cpu").calls()
    for call in (coded, dense):
        assert (call.activation_bits, call.weight_bits) == (16, bits)
        assert call.symmetric_weights is axis
    assert (other.weight_bits, other.symmetric_weights) == (8, False), "it has no encoding"
    on_cpu = _plan(model, "cpu")
    assert {(call.activation_bits, call.weight_bits) for call in on_cpu.calls()} == {(32, 32)}
    assert on_cpu.quantized


def test_calls_have_the_shapes_of_their_layers() -> None:
    network = _untouched()
    (subnet,) = _plan(Model(network), "dsp").subnets
    conv, dense = subnet.calls
    assert (conv.operands, conv.results) == (((1, 8, 8, 3),), ((1, 8, 8, 8),))
    assert (conv.parameters, dense.parameters) == (((3, 3, 3, 8),), ((512, 10),))
    assert (subnet.input_shapes, subnet.output_shapes) == (((1, 8, 8, 3),), ((1, 10),))
    assert conv.macs == 8 * 8 * 8 * 27


def test_a_plan_of_a_float_file_differs_in_what_is_loaded_only() -> None:
    codes = _plan(with_encodings(small_network()), "dsp")
    floats = codes.of_float_file()
    assert (codes.quantized, floats.quantized) == (True, False)
    assert floats.subnets == codes.subnets
    assert floats.stored_bytes == 4 * small_network().total_parameters > codes.stored_bytes
