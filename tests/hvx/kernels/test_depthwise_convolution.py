"""What brings a depthwise layer to the vector loops, so that no window needs scalar code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.hvx.isa import HvxMachine
from hexsim.hvx.kernels import Target, node_work
from hexsim.hvx.kernels.depthwise_convolution import DepthwiseForm
from hexsim.layers import Convolution
from hexsim.layers._bases import Window
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from tests.small_networks import Sketch, only_call
from tests.thorough import examples

TARGET = Target(HvxMachine(66), 4, 1 << 20, 256 * 1024)


def depthwise(window: Window, size: tuple[int, int] = (56, 56), per_channel: int = 1) -> KernelCall:
    net = Sketch((1, *size, 96))
    weight = net.weight((*window.kernel, 1, 96 * per_channel))
    out = net.add(
        Convolution,
        "in",
        weight=weight,
        window=window,
        groups=96,
        output_channels=96 * per_channel,
    )
    return only_call(net, out)


def packets(call: KernelCall) -> int:
    return node_work(call, TARGET, Traffic()).packets


SAME = (1, 1, 1, 1)


def test_what_the_loops_take_is_left_alone() -> None:
    for kernel in ((3, 3), (5, 3), (1, 7), (9, 5)):
        for strides in ((1, 1), (2, 1), (3, 2)):
            form = DepthwiseForm.of(depthwise(Window(kernel, strides)))
            assert form.is_direct
            assert (form.kernel, form.step) == (kernel, strides[1])


@pytest.mark.parametrize(
    ("window", "kernel", "step", "chunks", "moved"),
    [
        (Window((3, 3), dilations=(2, 2)), (3, 3), 1, 1, (True, True)),
        (Window((3, 3), strides=(1, 3)), (3, 3), 1, 1, (True, True)),
        (Window((3, 9)), (9, 3), 1, 1, (True, True)),
        (Window((9, 9)), (9, 5), 1, 2, (False, False)),
        (Window((3, 3), strides=(3, 3)), (3, 3), 1, 1, (False, True)),
        (Window((3, 3), strides=(4, 4)), (3, 3), 2, 1, (False, True)),
        (Window((2, 2)), (2, 3), 1, 1, (False, False)),
    ],
)
def test_other_windows_are_brought_to_them(
    window: Window, kernel: tuple[int, int], step: int, chunks: int, moved: tuple[bool, bool]
) -> None:
    form = DepthwiseForm.of(depthwise(window))
    assert (form.kernel, form.step, form.chunks) == (kernel, step, chunks)
    assert (form.moved_before, form.moved_after) == moved


def test_outputs_per_channel_are_chunks_that_are_interleaved() -> None:
    form = DepthwiseForm.of(depthwise(Window((3, 3), pads=SAME), per_channel=2))
    assert (form.chunks, form.moved_before, form.moved_after) == (2, False, True)


def test_dilation_costs_two_moves_and_far_less_than_a_dense_layer() -> None:
    plain = packets(depthwise(Window((3, 3), pads=SAME)))
    dilated = packets(depthwise(Window((3, 3), pads=(2, 2, 2, 2), dilations=(2, 2))))
    net = Sketch((1, 56, 56, 96))
    dense = packets(only_call(net, net.conv("in", 96, 3)))
    assert plain < dilated < 2 * plain < dense


windows = st.builds(
    Window,
    kernel=st.tuples(st.integers(1, 11), st.integers(1, 11)),
    strides=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    dilations=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    pads=st.just((15, 15, 15, 15)),
)


@examples(60)
@given(windows, st.integers(1, 3))
def test_every_window_is_vector_code_that_covers_it(window: Window, per_channel: int) -> None:
    call = depthwise(window, (20, 24), per_channel)
    form = DepthwiseForm.of(call)
    _, height, width, _ = call.results[0]
    assert form.rows * form.width >= height * width
    assert form.kernel[0] * form.kernel[1] * form.chunks >= window.taps * per_channel
    work = node_work(call, TARGET, Traffic())
    assert all(item.vector for stage in work.stages for item in stage.items)
    assert work.nodes == len(work.stages) - 1 + form.chunks
