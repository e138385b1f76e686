"""The window attributes that Conv and the pooling operators share."""

from __future__ import annotations

from hexsim.layers import Window
from hexsim.onnx_io.node import Node, NotALayerError


def read_window(node: Node, kernel: tuple[int, int], size: tuple[int, int]) -> Window:
    """Return the window of `node` over an input of `size` (height, width), auto_pad resolved."""
    strides = _pair(node, "strides")
    dilations = _pair(node, "dilations")
    pads = node.integers("pads") or (0, 0, 0, 0)
    if len(pads) != 4:
        raise NotALayerError("not 2-D")
    mode = node.text("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        pads = _same_pads(mode, size, Window(kernel, strides, dilations=dilations))
    elif mode == "VALID":
        pads = (0, 0, 0, 0)
    elif mode != "NOTSET":
        raise ValueError(f"attribute auto_pad has the unknown value '{mode}'")
    if min(pads) < 0:
        raise NotALayerError("negative pads")
    if min(*strides, *dilations, *kernel) < 1:
        raise ValueError("kernel, strides and dilations must be at least 1")
    top, left, bottom, right = pads
    ceil_mode = bool(node.integer("ceil_mode", 0))
    return Window(kernel, strides, (top, left, bottom, right), dilations, ceil_mode)


def _pair(node: Node, attribute: str) -> tuple[int, int]:
    values = node.integers(attribute) or (1, 1)
    if len(values) != 2:
        raise NotALayerError("not 2-D")
    return values[0], values[1]


def _same_pads(mode: str, size: tuple[int, int], window: Window) -> tuple[int, int, int, int]:
    """Pads such that the output has ceil(size / stride) positions; an odd one goes to one end."""
    begins, ends = [], []
    for length, stride, reach in zip(size, window.strides, window.reach, strict=True):
        total = max((-(-length // stride) - 1) * stride + reach - length, 0)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
    return begins[0], begins[1], ends[0], ends[1]
