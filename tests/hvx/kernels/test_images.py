"""Resizes in time: twice the size in loops of their own."""

import pytest

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, kernel_streams, node_work
from hexsim.hvx.streams import listed
from hexsim.layers import Resize
from hexsim.timing.memory import Traffic
from tests.small_networks import Sketch, only_call

V66 = HvxMachine(66)
TARGET = Target(V66, 4, 1 << 20, 1 << 18)


def call_of(shape, **attributes):
    net = Sketch(shape)
    return only_call(net, net.add(Resize, "in", **attributes))


@pytest.mark.parametrize(
    ("kind", "coordinates", "loop"),
    [
        ("bilinear", "asymmetric", "bilinear_by_two"),
        ("bilinear", "half_pixel", "bilinear_by_two_centred"),
        ("nearest", "half_pixel", "nearest_by_two"),
    ],
)
@pytest.mark.parametrize("shape", [(1, 9, 16, 64), (1, 9, 10, 160)])
def test_twice_the_size_has_a_loop(shape, kind, coordinates, loop) -> None:
    call = call_of(shape, kind=kind, coordinates=coordinates, scales=(2.0, 2.0))
    (kernel,) = kernel_streams(call, TARGET)
    assert kernel == listed(loop, V66)
    work = node_work(call, TARGET, Traffic(10, 20))
    slices, tiles = shape[3] // 32, -(-shape[2] * 2 // 16)
    slots = sum(item.packets + item.stalls for item in work.items)
    assert slots == 18 * slices * (kernel.cost.tile * tiles + kernel.cost.row)
    assert max(stage.threads for stage in work.stages) == 2
    assert (work.cost_model, work.read_bytes, work.write_bytes) == ("kernel", 10, 20)


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((1, 9, 10, 64), {"kind": "bilinear", "scales": (2.0, 2.0)}),  # width no power of two
        ((1, 9, 16, 48), {"kind": "nearest", "scales": (2.0, 2.0)}),  # depth no power of two
        ((1, 8, 8, 64), {"kind": "bilinear", "scales": (2.0, 3.0)}),
        (
            (1, 8, 8, 64),
            {"kind": "bilinear", "size": (16, 16), "coordinates": "align_corners"},
        ),
    ],
)
def test_others_are_generic(shape, attributes) -> None:
    call = call_of(shape, **attributes)
    stands_in = {"bilinear": listed("average_any", V66, 4), "nearest": listed("table", V66)}
    assert kernel_streams(call, TARGET) == (stands_in[attributes["kind"]],)
    assert node_work(call, TARGET, Traffic()).cost_model == "generic"
