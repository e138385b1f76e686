"""DroNet, small, 112x112: three residual blocks that normalise before they convolve, two heads.

After Loquercio et al., "DroNet: Learning to Fly by Driving", 2018: steering and collision. As
XPU-RT measured it: three input channels, no clamp before the max pool, and as heads convolutions
over the last map. A batch norm before a ReLU has no convolution to be folded into, and is a
multiplication and an addition. That, and the heads, are inferred from the published count of
nodes and the tensors between them.
"""

from __future__ import annotations

from ._builder import Builder
from ._built import BuiltModel
from ._window import Window


def _block(net: Builder, x: str, name: str, channels: int) -> str:
    y = net.relu(net.lone_batch_norm(x, f"{name}.bn1"), f"{name}.relu1")
    y = net.conv(y, f"{name}.conv1", channels, Window.centred(3, 2))
    y = net.conv(net.relu(y, f"{name}.relu2"), f"{name}.conv2", channels, Window.centred(3))
    x = net.conv(x, f"{name}.shortcut", channels, Window(1, 2))
    return net.add(x, y, f"{name}.add")


def build() -> BuiltModel:
    """Return DroNet, whose outputs are the steering angle and the logit of a collision."""
    net = Builder("dronet_112", "input", (1, 3, 112, 112))
    x = net.conv("input", "conv", 32, Window.centred(3, 2))
    x = net.max_pool(x, "maxpool", 3, 2)
    for block, channels in enumerate((32, 64, 128), start=1):
        x = _block(net, x, f"block{block}", channels)
    x = net.relu(x, "relu")
    return net.finish(*(net.conv(x, head, 1, 4) for head in ("steering", "collision")))
