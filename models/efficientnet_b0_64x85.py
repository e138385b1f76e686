"""EfficientNet-B0 on one frame of 64x85 pixels, with 512 outputs.

Tan and Le, "EfficientNet", 2019, table 1: blocks with squeeze-excite and SiLU. As XPU-RT measured
it: a fully connected layer of 512 outputs behind the mean, and TensorFlow's "same" padding of an
image of 224x224, which leaves the last column of 85 out.
"""

from __future__ import annotations

from typing import NamedTuple

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window


class _Stage(NamedTuple):
    """Blocks of one size: expansion, channels, blocks, stride of the first, kernel."""

    expansion: int
    channels: int
    blocks: int
    stride: int
    kernel: int


_STAGES = (
    _Stage(1, 16, 1, 1, 3),
    _Stage(6, 24, 2, 2, 3),
    _Stage(6, 40, 2, 2, 5),
    _Stage(6, 80, 3, 2, 3),
    _Stage(6, 112, 3, 1, 5),
    _Stage(6, 192, 4, 2, 5),
    _Stage(6, 320, 1, 1, 3),
)


def _norm(net: Builder, x: str) -> str:
    return net.batch_norm(x, f"{x}/BatchNorm", epsilon=1e-3)


def _act(net: Builder, x: str) -> str:
    x = _norm(net, x)
    return net.silu(x, f"{x}/SiLU")


def _excited(net: Builder, x: str, name: str, squeezed: int) -> str:
    """Scale channels by what two convolutions say of their means."""
    y = net.global_average_pool(x, f"{name}/AvgPool")
    y = net.silu(net.conv(y, f"{name}/reduce", squeezed, 1), f"{name}/SiLU")
    y = net.conv(y, f"{name}/expand", net.channels(x), 1)
    return net.gate(x, net.sigmoid(y, f"{name}/Sigmoid"), f"{name}/Mul")


def _block(net: Builder, x: str, name: str, stage: _Stage, stride: int) -> str:
    inputs, y = net.channels(x), x
    if stage.expansion > 1:
        y = _act(net, net.conv(y, f"{name}/expand", stage.expansion * inputs, 1, bias=False))
    window, size = Window.same(stage.kernel, stride), net.channels(y)
    y = _act(net, net.conv(y, f"{name}/depthwise", size, window, groups=size, bias=False))
    y = _excited(net, y, f"{name}/squeeze_excite", inputs // 4)
    y = _norm(net, net.conv(y, f"{name}/project", stage.channels, 1, bias=False))
    is_residual = stride == 1 and inputs == stage.channels
    return net.add(y, x, f"{name}/Add") if is_residual else y


def build() -> BuiltModel:
    """Return EfficientNet-B0, whose output is 512 features."""
    net = Builder("efficientnet_b0_64x85", "input", (1, 3, 64, 85))
    x = _act(net, net.conv("input", "stem", 32, Window.same(3, 2), bias=False))
    for index, stage in enumerate(_STAGES):
        for block in range(stage.blocks):
            stride = stage.stride if block == 0 else 1
            x = _block(net, x, f"stage{index}_block{block}", stage, stride)
    x = _act(net, net.conv(x, "head", 1280, 1, bias=False))
    x = net.flatten(net.global_average_pool(x, "AvgPool"), "Flatten")
    return net.finish(net.fully_connected(x, "Features", 512, std=LOGIT_STD))
