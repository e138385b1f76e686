"""Compiling sections: the cases of the AIP documentation, and what is refused."""

import pytest

from hexsim.datasheets import chips, stacks
from hexsim.deployment import deploy
from hexsim.deployment.offline_hta import CompileOrder, compile_all, orders, with_hta
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.hta.command_list import CommandList
from hexsim.layers import LocalResponseNorm, Neuron, Opaque
from hexsim.quantization.model import Model
from tests.dlc.made import with_encodings
from tests.small_networks import Sketch

SD855 = Platform.load("sd855")
OLD = Platform.load("sd855", "snpe-1.23")


def _network(*kinds: str) -> Network:
    net = Sketch((1, 8, 8, 3))
    last = "in"
    for kind in kinds:
        if kind == "conv":
            last = net.conv(last, 8)
        elif kind == "silu":
            last = net.add(Neuron, last, function="silu", alpha=1.0)
        elif kind == "lrn":
            last = net.add(LocalResponseNorm, last, size=5, alpha=1e-4, beta=0.75, bias=1.0)
        else:
            last = net.add(Opaque, last, op_type="Erf", node=b"", shapes=(net.shape(last),))
    return net.network(last)


def _engines(platform: Platform, *kinds: str) -> list[tuple[str, str, int]]:
    model = with_hta(with_encodings(_network(*kinds)), CompileOrder(platform.chip, platform.stack))
    subnets = deploy(model, platform, "aip").plan.subnets
    return [(subnet.runtime, subnet.engine, len(subnet.calls)) for subnet in subnets]


@pytest.mark.parametrize("platform", [SD855, OLD])
def test_all_on_the_hta(platform: Platform) -> None:
    assert _engines(platform, "conv", "conv") == [("aip", "hta", 2)]


@pytest.mark.parametrize("platform", [SD855, OLD])
def test_hta_then_hnn(platform: Platform) -> None:
    assert _engines(platform, "conv", "lrn") == [("aip", "hta", 1), ("aip", "hvx", 1)]


@pytest.mark.parametrize("platform", [SD855, OLD])
def test_hta_then_hnn_then_cpu(platform: Platform) -> None:
    assert _engines(platform, "conv", "lrn", "erf") == [
        ("aip", "hta", 1),
        ("aip", "hvx", 1),
        ("cpu", "cpu", 1),
    ]


@pytest.mark.parametrize(("stack", "layers"), [("qnn-2.45", 2), ("snpe-1.63", 2), ("snpe-1.30", 1)])
def test_both_layers_of_a_function_that_a_release_does_not_fuse_are_in_the_section(
    stack: str, layers: int
) -> None:
    """A SiLU in the middle of a section does not cut it, whatever the release makes of it."""
    sd865 = Platform.load("sd865", stack)
    assert _engines(sd865, "conv", "silu", "conv")[0] == ("aip", "hta", 2 + layers)
    assert _engines(sd865, "conv", "lrn", "conv", "silu")[2] == ("aip", "hta", 1 + layers)


def test_several_partitions() -> None:
    kinds = ("conv", "lrn", "conv", "conv", "erf", "conv", "lrn")
    assert _engines(SD855, *kinds) == [
        ("aip", "hta", 1),
        ("aip", "hvx", 1),
        ("aip", "hta", 2),
        ("cpu", "cpu", 1),
        ("aip", "hta", 1),
        ("aip", "hvx", 1),
    ]
    assert _engines(OLD, *kinds) == [("aip", "hta", 1), ("aip", "hvx", 3), ("cpu", "cpu", 3)]


def test_without_sections_for_this_chip_all_runs_on_hvx() -> None:
    model = with_encodings(_network("conv", "conv"))
    other = with_hta(model, CompileOrder(chips.load("sd865"), stacks.load("snpe-1.30")))
    for without in (model, other):
        (only,) = deploy(without, SD855, "aip").subnets
        assert only.engine == "hvx"


def test_the_record_is_the_command_list() -> None:
    model = with_hta(
        with_encodings(_network("conv", "conv")), CompileOrder(SD855.chip, SD855.stack)
    )
    (section,) = model.hta
    command_list = CommandList.from_bytes(section.record)
    assert (command_list.chip, command_list.names) == ("sd855", section.layers)


def test_sections_of_the_old_rules_only_under_the_old_rules() -> None:
    model = with_encodings(_network("conv", "lrn", "conv"))
    compiled = with_hta(model, CompileOrder(SD855.chip, SD855.stack))
    assert len(compiled.hta) == 2
    with pytest.raises(HexsimError, match=r"not those of the 1\.23 rules"):
        deploy(compiled, OLD, "aip")


def test_sections_replace_those_of_the_same_chip_only() -> None:
    model = with_encodings(_network("conv", "conv"))
    both, failures = compile_all(model, orders(["sm8150:1", "sm8250:"], "sd855", None))
    assert not failures
    assert [(s.chip, len(s.layers)) for s in both.hta] == [("sd855", 1), ("sd865", 2)]
    again = with_hta(both, CompileOrder(SD855.chip, SD855.stack))
    assert [(s.chip, len(s.layers)) for s in again.hta] == [("sd865", 2), ("sd855", 2)]


def test_nothing_to_compile_leaves_the_model_as_it_is() -> None:
    model = with_encodings(_network("lrn"))
    same, failures = compile_all(model, [CompileOrder(SD855.chip, SD855.stack)])
    assert same is model
    assert "localresponsenorm0" in failures[0]


def test_orders() -> None:
    (plain,) = orders([], "sd865", None)
    assert (plain.chip.name, plain.stack.name, plain.ids) == ("sd865", "qnn-2.45", None)
    (listed,) = orders(["0-3,5"], "sm8150", "snpe-1.23")
    assert (listed.chip.name, listed.stack.name) == ("sd855", "snpe-1.23")
    assert listed.ids == ((0, 3), (5, 5))
    with pytest.raises(HexsimError, match="two lists for sd855"):
        orders(["sm8150:1", "sd855:"], "sd865", None)
    with pytest.raises(HexsimError, match="unknown chip 'sm1'"):
        orders(["sm1:"], "sd855", None)


def test_chips_without_an_engine_are_refused() -> None:
    (order,) = orders([], "sd835", None)
    with pytest.raises(HexsimError, match="has no aip runtime"):
        order.check(Model(_network("conv")))
