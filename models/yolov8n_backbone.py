"""YOLOv8n's backbone, 640x640: layers 0 to 102 of its ONNX export, which give three maps.

Structure: Ultralytics' yolov8.yaml at depth 1/3 and width 1/4, up to the pyramid of max pools. As
XPU-RT measured it: the halves of a split are made by two 1x1 convolutions.
"""

from __future__ import annotations

from ._builder import Builder
from ._built import BuiltModel
from ._window import Window


def _conv(net: Builder, x: str, name: str, channels: int, kernel: int = 1, stride: int = 1) -> str:
    """Convolve, normalise and apply SiLU."""
    x = net.conv(x, f"{name}.conv", channels, Window.centred(kernel, stride), bias=False)
    return net.silu(net.batch_norm(x, f"{name}.bn", epsilon=1e-3), f"{name}.act")


def _bottlenecks(net: Builder, x: str, name: str, count: int) -> str:
    """Join both halves of a 1x1 convolution with the sums of `count` bottlenecks (C2f)."""
    channels = net.channels(x)
    x = _conv(net, x, f"{name}.cv1", channels)
    parts = [net.conv(x, f"{name}.split{half}", channels // 2, 1) for half in range(2)]
    for index in range(count):
        y = _conv(net, parts[-1], f"{name}.m{index}.cv1", channels // 2, 3)
        y = _conv(net, y, f"{name}.m{index}.cv2", channels // 2, 3)
        parts.append(net.add(parts[-1], y, f"{name}.m{index}.add"))
    return _conv(net, net.concat(parts, f"{name}.concat"), f"{name}.cv2", channels)


def _pyramid(net: Builder, x: str, name: str) -> str:
    """Join the map with three max pools, each of the one before (SPPF)."""
    parts = [_conv(net, x, f"{name}.cv1", net.channels(x) // 2)]
    for index in range(3):
        parts.append(net.max_pool(parts[-1], f"{name}.pool{index}", 5, 1, pads=2))
    return _conv(net, net.concat(parts, f"{name}.concat"), f"{name}.cv2", net.channels(x))


def build() -> BuiltModel:
    """Return the backbone, whose outputs are maps of 80x80, 40x40 and 20x20 pixels."""
    net = Builder("yolov8n_backbone", "images", (1, 3, 640, 640))
    x, maps = _conv(net, "images", "stem", 16, 3, 2), []
    for stage, (channels, bottlenecks) in enumerate(((32, 1), (64, 2), (128, 2), (256, 1))):
        x = _conv(net, x, f"stage{stage}", channels, 3, 2)
        x = _bottlenecks(net, x, f"stage{stage}.c2f", bottlenecks)
        maps.append(x)
    return net.finish(maps[1], maps[2], _pyramid(net, x, "sppf"))
