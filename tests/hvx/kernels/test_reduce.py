"""Reductions and quotients in time."""

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, kernel_streams, node_work
from hexsim.hvx.streams import listed, reduce
from hexsim.hvx.streams.recurrent import TABLE_PARTS
from hexsim.layers import Elementwise, Reduce
from hexsim.timing.memory import Traffic
from tests.small_networks import Sketch, only_call

V66 = HvxMachine(66)
TARGET = Target(V66, 4, 1 << 20, 1 << 18)


@pytest.mark.parametrize(
    ("axes", "inside", "results"),
    [
        ((3,), "channels", 16 * 4),
        ((1, 2), "pixels", 2),
        ((1,), "nothing", 8),
        ((0,), "nothing", 128),
    ],
)
@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min"])
def test_all_vectors_pass_and_those_of_the_result_end(kind, axes, inside, results) -> None:
    net = Sketch((1, 16, 16, 64))
    call = only_call(net, net.add(Reduce, "in", kind=kind, axes=axes))
    each, end = kernel_streams(call, TARGET)
    if kind in ("max", "min"):
        assert each == reduce.extremum_pass(V66, largest=kind == "max")
        assert end == reduce.extremum_end(V66, inside, largest=kind == "max")
    else:
        assert (each, end) == (listed(f"sum_{inside}", V66), reduce.sum_end(V66, inside))
    work = node_work(call, TARGET, Traffic(7, 3))
    slots = sum(item.packets + item.stalls for item in work.items)
    assert slots == 128 * each.cost.tile + results * (each.cost.row + end.cost.tile)
    assert (work.cost_model, work.read_bytes, work.write_bytes) == ("kernel", 7, 3)


def test_what_is_left_inside_a_vector_is_halved() -> None:
    ends = [
        reduce.extremum_end(V66, inside, largest=True).cost.tile
        for inside in ("nothing", "pixels", "channels")
    ]
    assert ends == sorted(set(ends))
    assert reduce.sum_end(V66, "channels").cost.tile > reduce.sum_end(V66, "nothing").cost.tile


def test_a_quotient_looks_two_bytes_of_a_reciprocal_up() -> None:
    net = Sketch((1, 16, 16, 64))
    (kernel,) = kernel_streams(only_call(net, net.add(Elementwise, "in", "in", kind="div")), TARGET)
    assert kernel == listed("divide", V66)
    lookups = sum(insn.op.startswith("lut32") for insn in kernel.tile[0].code.insns)
    assert lookups == 2 * TABLE_PARTS
    assert kernel.cost.tile >= lookups, "one lookup a packet"
