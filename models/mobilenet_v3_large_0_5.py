"""MobileNetV3-Large 0.5 224 as in TensorFlow, with squeeze-excite and hard swish.

Howard et al., "Searching for MobileNetV3", 2019, table 1; how half the width is rounded follows
TensorFlow's models: a block expands its own input, and every count is a multiple of 8. "Same"
padding; 1001 classes, one for background. Left out: TensorFlow writes the classifier as a 1x1
convolution.
"""

from __future__ import annotations

from typing import NamedTuple

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

_WIDTH = 0.5


class _Block(NamedTuple):
    """Kernel and stride of the depthwise step, expansion and channels at full width."""

    kernel: int
    stride: int
    expansion: float
    channels: int
    excites: bool = False
    swishes: bool = False


_BLOCKS = (
    _Block(3, 1, 1, 16),
    _Block(3, 2, 4, 24),
    _Block(3, 1, 3, 24),
    _Block(5, 2, 3, 40, excites=True),
    _Block(5, 1, 3, 40, excites=True),
    _Block(5, 1, 3, 40, excites=True),
    _Block(3, 2, 6, 80, swishes=True),
    _Block(3, 1, 2.5, 80, swishes=True),
    _Block(3, 1, 2.3, 80, swishes=True),
    _Block(3, 1, 2.3, 80, swishes=True),
    _Block(3, 1, 6, 112, excites=True, swishes=True),
    _Block(3, 1, 6, 112, excites=True, swishes=True),
    _Block(5, 2, 6, 160, excites=True, swishes=True),
    _Block(5, 1, 6, 160, excites=True, swishes=True),
    _Block(5, 1, 6, 160, excites=True, swishes=True),
)


def _rounded(channels: float) -> int:
    """Round to a multiple of 8, but by no more than a tenth down."""
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest if nearest >= 0.9 * channels else nearest + 8


def _act(net: Builder, x: str, *, swishes: bool) -> str:
    return net.hard_swish(x, f"{x}/HardSwish") if swishes else net.relu(x, f"{x}/Relu")


def _norm(net: Builder, x: str) -> str:
    return net.batch_norm(x, f"{x}/BatchNorm", epsilon=1e-3)


def _excited(net: Builder, x: str, name: str) -> str:
    """Scale channels by what two fully connected layers say of their means."""
    y = net.global_average_pool(x, f"{name}/AvgPool")
    y = net.conv(y, f"{name}/Conv", _rounded(net.channels(x) / 4), 1)
    y = net.conv(net.relu(y, f"{name}/Relu"), f"{name}/Conv_1", net.channels(x), 1)
    return net.gate(x, net.hard_sigmoid(y, f"{name}/HardSigmoid"), f"{name}/Mul")


def _residual(net: Builder, x: str, name: str, block: _Block) -> str:
    y = x
    if block.expansion > 1:
        hidden = _rounded(block.expansion * net.channels(x))
        y = net.conv(y, f"{name}/expand", hidden, 1, bias=False)
        y = _act(net, _norm(net, y), swishes=block.swishes)
    window, size = Window.same(block.kernel, block.stride), net.channels(y)
    y = net.conv(y, f"{name}/depthwise", size, window, groups=size, bias=False)
    y = _act(net, _norm(net, y), swishes=block.swishes)
    if block.excites:
        y = _excited(net, y, f"{name}/squeeze_excite")
    channels = _rounded(_WIDTH * block.channels)
    y = _norm(net, net.conv(y, f"{name}/project", channels, 1, bias=False))
    is_residual = block.stride == 1 and net.channels(x) == channels
    return net.add(x, y, f"{name}/Add") if is_residual else y


def build() -> BuiltModel:
    """Return MobileNetV3-Large of half the width, whose output is 1001 logits."""
    net = Builder("mobilenet_v3_large_0_5", "input", (1, 3, 224, 224))
    x = net.conv("input", "Conv", _rounded(_WIDTH * 16), Window.same(3, 2), bias=False)
    x = _act(net, _norm(net, x), swishes=True)
    for index, block in enumerate(_BLOCKS):
        x = _residual(net, x, f"expanded_conv_{index}", block)
    x = net.conv(x, "Conv_1", 6 * net.channels(x), 1, bias=False)
    x = net.global_average_pool(_act(net, _norm(net, x), swishes=True), "AvgPool")
    x = _act(net, net.conv(x, "Conv_2", 1280, 1), swishes=True)
    return net.finish(net.fully_connected(net.flatten(x, "Flatten"), "Logits", 1001, std=LOGIT_STD))
