"""What enters a call as codes comes from DDR, though the DSP makes codes of float inputs."""

from __future__ import annotations

from dataclasses import replace

from hexsim import chips, stacks
from hexsim.joined import JoinedSubnets
from hexsim.machine import Machine
from hexsim.subnet_work import subnet_works
from tests.small_networks import Sketch, plan


def test_codes_that_crossed_as_such_are_in_ddr() -> None:
    net = Sketch((1, 32, 32, 3))
    network = net.network(net.conv("in", 32, 3))
    (subnet,) = plan(network).subnets
    stack = stacks.load("snpe-1.23")
    machine = Machine(chips.load("sd835"), stack, [stack.profile()])

    def read_bytes(*as_codes: str, inputs_in_l2: bool = True) -> int:
        changed = replace(subnet, as_codes=frozenset(as_codes))
        joined = JoinedSubnets.of(network, (changed,))
        (work,) = subnet_works(joined, machine, inputs_in_l2=inputs_in_l2)
        return sum(call.read_bytes for call in work.calls)  # type: ignore[union-attr]

    assert read_bytes("in") - read_bytes() == 32 * 32 * 3
    assert read_bytes("in") == read_bytes(inputs_in_l2=False)
