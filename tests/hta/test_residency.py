from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hexsim.graph.ir import Network
from hexsim.hta.layout import tensor_bytes
from hexsim.hta.residency import resident_on_chip
from hexsim.planning.plan import PlannedSubnet
from tests.hta.shapes import on_hta
from tests.small_networks import Sketch, networks

KB = 1024


def alive(subnet: PlannedSubnet, step: int) -> set[str]:
    """Tensors that exist while call `step` runs: written by now, read now or later."""
    written = {n for call in subnet.calls[: step + 1] for n in call.layer.outputs}
    return {
        n for call in subnet.calls[step:] for n in (*call.layer.inputs, *call.layer.outputs)
    } & (written)


@given(networks(), st.sampled_from([0, 1 * KB, 8 * KB, 64 * KB, 1024 * KB]))
def test_what_is_kept_never_exceeds_the_memory(network: Network, capacity: int) -> None:
    (subnet,) = on_hta(network).subnets
    kept = resident_on_chip(subnet, capacity)
    assert kept.isdisjoint({*subnet.inputs, *subnet.outputs})
    sizes = {
        name: tensor_bytes(network.shape(name), subnet.bits[name])
        for call in subnet.calls
        for name in call.layer.outputs
    }
    for step in range(len(subnet.calls)):
        assert sum(sizes[name] for name in alive(subnet, step) & kept) <= capacity


def test_everything_inside_is_kept_if_there_is_room_and_nothing_without() -> None:
    net = Sketch((1, 16, 16, 32))
    inner = net.conv("in", 32)
    network = net.network(net.conv(inner, 32))
    (subnet,) = on_hta(network).subnets
    assert resident_on_chip(subnet, 8 * KB) == {inner}
    assert resident_on_chip(subnet, 8 * KB - 1) == frozenset()
