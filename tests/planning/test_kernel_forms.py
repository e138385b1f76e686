"""A deconvolution as the convolution of its phases.

Which layers multiply by signed weights: the limits, and values and times agree.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from hexsim.datasheets.chips import SignedKernels, slice_bytes
from hexsim.graph.ir import Network
from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels._model import Target
from hexsim.hvx.kernels.convolution import Blocking, DenseShape
from hexsim.hvx.layout import vectors
from hexsim.layers import Convolution, Deconvolution, FullyConnected, Neuron, Permute, Window
from hexsim.lowering import lower
from hexsim.planning.kernel_forms import in_phases, laid_down, signed_layers
from hexsim.planning.plan import PlannedSubnet, Subnet
from hexsim.planning.planner import make_plan
from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import quantized
from tests.small_networks import Sketch, only_call, plan


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


def test_a_stride_as_large_as_the_window_is_one_tap_and_no_more_work() -> None:
    net = Sketch((1, 7, 9, 32))
    call = only_call(net, net.deconv("in", 48, kernel=2, stride=2))
    phases = in_phases(call)
    assert isinstance(phases.layer, Convolution)
    assert phases.layer.window == Window((1, 1))
    assert (phases.results, phases.parameters) == (((1, 7, 9, 4 * 48),), ((1, 1, 32, 4 * 48),))
    assert phases.macs == call.macs


def test_phases_of_fewer_taps_are_filled_up() -> None:
    net = Sketch((1, 7, 9, 32))
    call = only_call(net, net.deconv("in", 48, kernel=3, stride=2))
    phases = in_phases(call)
    assert phases.parameters == ((2, 2, 32, 4 * 48),)
    assert phases.results == ((1, 8, 10, 4 * 48),)
    assert phases.macs > call.macs


VTCM = 256 * 1024
FIELDS = {"name": "layer", "inputs": ("x",), "outputs": ("y",), "weight": "w"}


@pytest.mark.parametrize("version", [65, 66])
@pytest.mark.parametrize(
    ("kernel", "channels", "fits"),
    [
        ((3, 3), 4, False),  # first layer
        ((3, 3), 5, True),
        ((1, 1), 8192, True),  # 262144 bytes, all of it
        ((1, 1), 8193, False),
        ((4, 4), 512, True),
        ((3, 3), 928, False),  # 267264 bytes
        ((3, 3), 910, False),  # padded to 928
        ((3, 3), 896, True),  # 258048 bytes
    ],
)
def test_the_slice_of_32_outputs_fits_vtcm(version, kernel, channels, fits):
    assert SignedKernels(version, VTCM).take(kernel, channels, 1) is fits


def test_strides_along_the_width_are_limited_on_v66():
    takes = {
        (version, stride): SignedKernels(version, VTCM).take((3, 3), 32, stride)
        for version, stride in product((65, 66), (1, 2, 3))
    }
    assert [key for key, value in takes.items() if not value] == [(66, 3)]
    assert slice_bytes((3, 3), 33) == 9 * 64 * 32


def test_there_are_none_before_v65():
    assert SignedKernels.of(62, 0) is None
    assert SignedKernels.of(65, VTCM) == SignedKernels(65, VTCM)


def _layers():
    """Layers with the shapes of their input and weight."""
    for channels, step, kernel in product((3, 8, 48), (1, 2, 3), (1, 3)):
        window = Window((kernel, kernel), (step, 1))
        for strides in ((step, 1), (1, step)):
            window = Window((kernel, kernel), strides)
            layer = Convolution(**FIELDS, window=window, output_channels=8)
            yield layer, (1, 9, 9, channels), (kernel, kernel, channels, 8)
    same = Window((3, 3), (1, 1), (1, 1, 1, 1))
    for groups, channels in ((8, 8), (2, 8), (2, 32), (4, 32)):
        layer = Convolution(**FIELDS, window=same, groups=groups, output_channels=channels)
        yield layer, (1, 9, 9, channels), (3, 3, channels // groups, channels)
    tall = Convolution(**FIELDS, window=Window((3, 1), (3, 1)), output_channels=8)
    yield tall, (1, 30, 1, 8), (3, 1, 8, 8)  # is laid down, so its stride is along the width
    large = Convolution(**FIELDS, window=Window((3, 3)), output_channels=2)
    yield large, (1, 3, 3, 910), (3, 3, 910, 2)
    for groups, channels in ((1, 3), (1, 8), (8, 8), (2, 16)):
        window = Window((4, 4), (2, 2), (1, 1, 1, 1))
        layer = Deconvolution(**FIELDS, window=window, groups=groups, output_channels=channels)
        yield layer, (1, 5, 5, channels), (4, 4, channels // groups, channels)
    yield FullyConnected(**FIELDS, output_channels=4), (1, 40), (40, 4)


def _is_signed_in_time(call, target):
    if isinstance(call.layer, FullyConnected):
        return False
    inner = in_phases(call) if isinstance(call.layer, Deconvolution) else call
    if inner.layer.is_depthwise(inner.operands[0][-1]):
        return False
    return Blocking(DenseShape.of(inner, inner.layer), target).in_vtcm


@pytest.mark.parametrize("version", [62, 65, 66])
def test_values_and_times_agree(version):
    vtcm_bytes = VTCM if version >= 65 else 0
    kernels = SignedKernels.of(version, vtcm_bytes)
    target = Target(HvxMachine(version), 2, 1 << 20, vtcm_bytes)
    answers = set()
    for layer, shape, weight_shape in _layers():
        weight = np.linspace(-0.2, 1, int(np.prod(weight_shape)), dtype=np.float32)
        encodings = {"x": Encoding.from_range(0, 1), "y": Encoding.from_range(0, 9)}
        model = quantized(
            [layer], {"x": shape}, {"w": weight.reshape(weight_shape)}, encodings, "y"
        )
        cut = Subnet("dsp", "hvx", model.network.layers, "all")
        (subnet,) = make_plan(model, "dsp", [cut]).subnets
        (call,) = lower(subnet, model, signed_kernels=kernels)
        (timed,) = laid_down(subnet).calls
        signed = call.weights.codes.dtype == np.int8
        assert signed is _is_signed_in_time(timed, target), layer
        assert signed_layers(subnet, kernels) == ({"layer"} if signed else set())
        answers.add(signed)
    assert answers == ({True, False} if kernels else {False})
