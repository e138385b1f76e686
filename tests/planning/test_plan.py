from __future__ import annotations

from hypothesis import given

from hexsim.graph.ir import Network
from hexsim.layers import Opaque
from hexsim.planning.plan import JoinedSubnets, joined_subnets
from tests.hta.shapes import on_hta
from tests.small_networks import Sketch, networks, plan
from tests.thorough import examples


def test_one_call_runs_neighbours_of_one_dsp_runtime() -> None:
    net = Sketch((1, 16, 16, 32))
    a = net.conv("in", 32)
    b = net.conv(a, 48)
    c = net.add(Opaque, net.conv(b, 32), op_type="Erf", node=b"", shapes=((1, 16, 16, 32),))
    network = net.network(net.conv(c, 64))
    calls = list(joined_subnets(on_hta(network, range(1, 2))))
    engines = [[subnet.engine for subnet in call.subnets] for call in calls]
    assert engines == [["hvx", "hta", "hvx"], ["cpu"], ["hvx"]]
    assert [call.on_dsp for call in calls] == [True, False, True]
    assert [call.uses_hta for call in calls] == [True, False, False]
    first = calls[0]
    assert (first.inputs, first.input_shapes) == (("in",), ((1, 16, 16, 32),))
    assert first.outputs == (network.layers[2].output,)
    assert (first.written_by("hta"), first.read_by("hta")) == ({b}, {a})
    assert first.bits[b] == 8


@examples(100)
@given(networks())
def test_a_lone_subnet_has_the_edges_of_its_call(network: Network) -> None:
    subnets = plan(network).subnets
    calls = list(joined_subnets(plan(network)))
    assert tuple(subnet for call in calls for subnet in call.subnets) == subnets
    for call in calls:
        if len(call.subnets) == 1:
            (subnet,) = call.subnets
            assert (call.inputs, call.outputs) == (subnet.inputs, subnet.outputs)
            assert call.input_shapes == subnet.input_shapes
    whole = JoinedSubnets.of(network, subnets)
    assert set(whole.inputs) <= set(network.inputs)
    assert set(whole.outputs) == set(network.outputs)
