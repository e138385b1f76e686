"""Calls have the bit widths and shapes of what is computed; a plan reads no weight.

Cuts follow refusals, with their reasons; fallback can be forbidden.
"""

import pytest

from hexsim.datasheets.operators import Operators
from hexsim.deployment import Deployment
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Tensor
from hexsim.layers import Neuron, Opaque
from hexsim.planning.plan import Plan
from hexsim.planning.planner import make_plan, partition
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from tests.deployed import planned
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


def _chain(*kinds: str) -> Network:
    layers = []
    for i, kind in enumerate(kinds):
        io = {"name": f"l{i}", "inputs": (f"t{i}",), "outputs": (f"t{i + 1}",)}
        if kind == "opaque":
            layers.append(Opaque(**io, op_type="Erf", node=b"", shapes=((1, 8),)))
        else:
            layers.append(Neuron(**io, function=kind))  # type: ignore[arg-type]
    tensors = {f"t{i}": Tensor(f"t{i}", (1, 8)) for i in range(len(kinds) + 1)}
    return Network("chain", tuple(layers), tensors, {}, ("t0",), (f"t{len(kinds)}",))


def test_a_supported_network_is_one_subnet() -> None:
    (only,) = partition(Model(_chain("sigmoid", "tanh")), "dsp")
    assert only.runtime == "dsp"
    assert len(only.layers) == 2


def test_refused_layers_are_cut_out_with_their_reasons() -> None:
    cuts = partition(Model(_chain("sigmoid", "opaque", "elu", "tanh")), "dsp")
    assert [(cut.runtime, len(cut.layers)) for cut in cuts] == [("dsp", 1), ("cpu", 2), ("dsp", 1)]
    assert "no layer type" in cuts[1].reason
    assert "(elu)" in cuts[1].reason


def test_without_fallback_the_layer_is_named() -> None:
    with pytest.raises(HexsimError, match=r"layer 'l1' \(Erf\) cannot run on dsp"):
        partition(Model(_chain("sigmoid", "opaque")), "dsp", cpu_fallback=False)


def test_plan_knows_what_crosses_each_edge() -> None:
    network = _chain("sigmoid", "opaque", "tanh")
    plan = planned(network, "dsp")
    assert [(s.inputs, s.outputs) for s in plan.subnets] == [
        (("t0",), ("t1",)),
        (("t1",), ("t2",)),
        (("t2",), ("t3",)),
    ]
    assert [call.engine for call in plan.calls()] == ["hvx", "cpu", "hvx"]
    assert [call.activation_bits for call in plan.calls()] == [8, 32, 8]


def test_hta_sections_are_subnets_of_their_own_inside_aip() -> None:
    network = _chain("sigmoid", "tanh", "sigmoid", "opaque", "tanh", "tanh")
    cuts = partition(Model(network), "aip", sections=(("l0",), ("l1",), ("l4",)))
    assert [(cut.runtime, cut.engine, len(cut.layers)) for cut in cuts] == [
        ("aip", "hta", 1),
        ("aip", "hta", 1),
        ("aip", "hvx", 1),
        ("cpu", "cpu", 1),
        ("aip", "hta", 1),
        ("aip", "hvx", 1),
    ]
    assert [call.engine for call in make_plan(Model(network), "aip", cuts).calls()] == [
        cut.engine for cut in cuts
    ]


def test_hta_sections_mean_nothing_to_other_runtimes() -> None:
    network = _chain("sigmoid", "tanh")
    (only,) = partition(Model(network), "dsp", sections=(("l0",),))
    assert only.engine == "hvx"


def test_the_old_rules_end_with_one_subnet_on_hvx() -> None:
    network = _chain("sigmoid", "tanh", "opaque", "tanh")
    cuts = partition(Model(network), "aip", sections=(("l0",),), rules="1.23")
    assert [(cut.engine, len(cut.layers)) for cut in cuts] == [("hta", 1), ("hvx", 1), ("cpu", 2)]
    assert "1.23" in cuts[-1].reason
    assert len(partition(Model(network), "dsp", rules="1.23")) == 3, "dsp knows no such rule"
    with pytest.raises(HexsimError, match="'l2'"):
        partition(Model(network), "aip", rules="1.23", cpu_fallback=False)


def test_the_generation_of_operators_decides() -> None:
    (only,) = partition(
        Model(_chain("sigmoid", "elu", "tanh")), "dsp", operators=Operators.of("qnn-2")
    )
    assert only.runtime == "dsp"


@pytest.mark.parametrize(("stack", "subnets"), [("snpe-1.30", 3), ("qnn-2.45", 1)])
def test_a_deployment_asks_its_stack(stack: str, subnets: int) -> None:
    platform = Platform.load("sd865", stack)
    deployment = Deployment(Model(_chain("sigmoid", "elu", "tanh")), platform, "dsp")
    assert len(deployment.subnets) == subnets
