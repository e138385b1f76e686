"""The MobileNetV2 family: inverted residuals with linear bottlenecks, of any width.

Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018, table 2.
Initialisers are named as in torchvision's state dict.
"""

from __future__ import annotations

from collections.abc import Callable

from hexsim.records import dataclass

from ._builder import LOGIT_STD, Builder
from ._built import BuiltModel
from ._window import Window

# Expansion, channels, repeats, stride of the first.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


@dataclass(frozen=True, slots=True)
class Family:
    """What the members differ in: factor of every width, padding, and number of classes."""

    window: Callable[[int, int], Window]
    width: int = 1
    classes: int = 1000

    def build(self, network: str) -> BuiltModel:
        """Return the member called `network`, whose output is logits."""
        net = Builder(network, "input", (1, 3, 224, 224))
        x = self._conv(net, "input", "features.0", 32 * self.width, 3, stride=2)
        index = 1
        for expansion, channels, repeats, first_stride in _STAGES:
            for repeat in range(repeats):
                block = (expansion, channels * self.width, first_stride if repeat == 0 else 1)
                x = self._inverted_residual(net, x, f"features.{index}", *block)
                index += 1
        x = self._conv(net, x, f"features.{index}", 1280 * self.width, 1)
        x = net.flatten(net.global_average_pool(x, "avgpool"), "flatten")
        x = net.dropout(x, "classifier.0")
        return net.finish(net.fully_connected(x, "classifier.1", self.classes, std=LOGIT_STD))

    def _inverted_residual(
        self, net: Builder, x: str, name: str, expansion: int, channels: int, stride: int
    ) -> str:
        y, part = x, 0
        hidden = expansion * net.channels(x)
        if expansion > 1:
            y, part = self._conv(net, y, f"{name}.conv.0", hidden, 1), 1
        y = self._conv(net, y, f"{name}.conv.{part}", hidden, 3, stride=stride, groups=hidden)
        y = net.conv(y, f"{name}.conv.{part + 1}", channels, 1, bias=False)
        y = net.batch_norm(y, f"{name}.conv.{part + 2}")
        is_residual = stride == 1 and net.channels(x) == channels
        return net.add(x, y, f"{name}.add") if is_residual else y

    def _conv(
        self,
        net: Builder,
        x: str,
        name: str,
        channels: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
    ) -> str:
        """Convolution 0, batch norm 1 and ReLU6 2 of the sequence `name`."""
        window = self.window(kernel, stride)
        x = net.conv(x, f"{name}.0", channels, window, groups=groups, bias=False)
        return net.relu6(net.batch_norm(x, f"{name}.1"), f"{name}.2")
