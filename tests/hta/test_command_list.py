from __future__ import annotations

import json

import pytest
from hypothesis import given

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.hta.command_list import CommandList
from hexsim.hta.compiler import compile_subnet
from tests.hta.shapes import HTA, on_hta
from tests.small_networks import Sketch, networks
from tests.thorough import examples


@examples(20)
@given(networks())
def test_a_record_reads_back_as_it_was(network: Network) -> None:
    (subnet,) = on_hta(network).subnets
    command_list = compile_subnet(subnet, "sd855", HTA)
    assert CommandList.from_bytes(command_list.to_bytes()) == command_list
    assert command_list.names == tuple(layer.name for layer in network.layers)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (b"", "cannot be read"),
        (b"[]", "cannot be read"),
        (b'{"format": 1}', "cannot be read"),
        (b'{"format": 9}', "format 9"),
        (b'{"format": 1, "chip": "sd855", "layers": [{"layer": "a"}]}', "cannot be read"),
    ],
)
def test_what_is_no_record_is_refused(record: bytes, said: str) -> None:
    with pytest.raises(HexsimError, match=said):
        CommandList.from_bytes(record)


def test_a_command_with_too_many_numbers_is_refused() -> None:
    net = Sketch((1, 8, 8, 32))
    (subnet,) = on_hta(net.network(net.conv("in", 8))).subnets
    tree = json.loads(compile_subnet(subnet, "sd855", HTA).to_bytes())
    tree["layers"][0]["commands"][0].append(7)
    with pytest.raises(HexsimError, match="cannot be read"):
        CommandList.from_bytes(json.dumps(tree).encode())
