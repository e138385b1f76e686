"""Layers for tests of the tensor engine: convolutions of all kinds, as kernel calls."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from hexsim.datasheets import chips
from hexsim.datasheets.chips import Hta
from hexsim.graph.ir import Network
from hexsim.hta.array import MacArray, MacShape
from hexsim.hta.layout import tensor_bytes
from hexsim.planning.plan import KernelCall, Plan
from tests.deployed import planned
from tests.small_networks import Sketch, only_call

HTA = chips.load("sd855").hta
ARRAY = MacArray(
    depth_lanes=16,
    channel_lanes=32,
    pixel_lanes=3,
    stage_bytes_per_clk=128,
    feed_bytes_per_clk=32,
    int16_rate=0.5,
)
WELL_FED = replace(ARRAY, feed_bytes_per_clk=1e9)
"""An array whose lanes never wait for the local memory."""


def on_hta(network: Network, *sections: range) -> Plan:
    """An AIP plan with these runs of layers on the tensor engine, by default one of them all."""
    names = [
        [network.layers[at].name for at in section]
        for section in sections or (range(len(network.layers)),)
    ]
    return planned(network, "aip", sections=names)


def mac_shape(call: KernelCall) -> MacShape:
    shape = MacShape.of(call, tensor_bytes(call.operands[0], call.input_bits))
    assert shape is not None
    return shape


def conv_call(
    *, size: tuple[int, int], channels: int, outputs: int, kernel: int = 1, stride: int = 1,
    groups: int = 1, bits: int = 8,
) -> KernelCall:  # fmt: skip
    net = Sketch((1, *size, channels))
    call = only_call(net, net.conv("in", outputs, kernel, stride, groups))
    return replace(call, activation_bits=bits)


def engine(**changes: float) -> Hta:
    """The tensor engine of sd855 with some constants changed."""
    chip = chips.load("sd855")
    for name, value in changes.items():
        chip = chip.with_value(f"hta.{name}", value)
    return chip.hta


@st.composite
def calls(draw: st.DrawFn) -> KernelCall:
    """A convolution, depthwise, grouped or fully connected layer."""
    kind = draw(st.sampled_from(["conv", "depthwise", "grouped", "dense"]))
    channels = draw(st.sampled_from([1, 3, 16, 32, 40, 96, 260]))
    if kind == "dense":
        net = Sketch((1, channels * draw(st.integers(1, 40))))
        return only_call(net, net.dense("in", draw(st.integers(1, 300))))
    groups, outputs = 1, draw(st.sampled_from([1, 8, 32, 48, 200]))
    if kind == "depthwise":
        groups = outputs = channels
    elif kind == "grouped" and channels % 2 == 0:
        groups, outputs = 2, 2 * outputs
    return conv_call(
        size=(draw(st.integers(1, 60)), draw(st.integers(1, 40))),
        channels=channels,
        outputs=outputs,
        kernel=draw(st.sampled_from([1, 3, 5])),
        stride=draw(st.sampled_from([1, 2, 3])),
        groups=groups,
        bits=draw(st.sampled_from([8, 16])),
    )
