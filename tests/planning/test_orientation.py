from __future__ import annotations

from hexsim.graph.ir import Network
from hexsim.hvx.layout import vectors
from hexsim.layers import Convolution, Neuron, Permute, Window
from hexsim.planning.orientation import laid_down
from hexsim.planning.plan import PlannedSubnet
from tests.small_networks import Sketch, plan


def subnet(network: Network) -> PlannedSubnet:
    return plan(network).subnets[0]


def series(height: int = 113, width: int = 1, below: int = 1) -> Sketch:
    net = Sketch((1, height, width, 64))
    net.add(
        Convolution,
        "in",
        weight=net.weight((5, 1, 64, 32)),
        window=Window((5, 1), (2, 1), (2, 0, below, 0)),
        output_channels=32,
    )
    return net


def test_a_series_is_turned_with_its_windows() -> None:
    before = subnet(series().network("convolution0_out"))
    after = laid_down(before)
    (call,) = after.calls
    assert isinstance(call.layer, Convolution)
    assert call.layer.window == Window((1, 5), (1, 2), (0, 2, 0, 1))
    assert call.operands == after.input_shapes == ((1, 1, 113, 64),)
    assert call.layer.output_shapes(call.operands) == call.results == after.output_shapes
    assert call.macs == before.calls[0].macs
    assert vectors(call.operands[0]) * 3 < vectors(before.calls[0].operands[0])


def test_wider_images_stay() -> None:
    before = subnet(series(width=2).network("convolution0_out"))
    assert laid_down(before) is before


def test_a_single_pixel_stays() -> None:
    before = subnet(series(height=1, below=2).network("convolution0_out"))
    assert laid_down(before) is before


def test_a_layer_that_names_axes_keeps_the_whole_subnet() -> None:
    net = series()
    last = net.add(Permute, "convolution0_out", permutation=(0, 2, 1, 3))
    last = net.add(Neuron, last, function="tanh")
    before = subnet(net.network(last))
    assert laid_down(before) is before


def test_tensors_that_are_no_images_stay() -> None:
    for shape in ((), (8,), (113, 1), (113, 1, 64)):
        net = Sketch(shape)
        before = subnet(net.network(net.add(Neuron, "in", function="tanh")))
        assert laid_down(before) is before
