"""The window attributes that Conv and the pooling operators share."""

from hexsim.errors import InvalidDataError
from hexsim.layers import Window
from hexsim.onnx_io.file.node import NotALayerError, OnnxNode


def read_window(node: OnnxNode, kernel: tuple[int, int], size: tuple[int, int]) -> Window:
    """Return the window of `node` over an input of `size` (height, width), auto_pad resolved."""
    strides = pair(node, "strides", 1)
    dilations = pair(node, "dilations", 1)
    mode = node.text("auto_pad", "NOTSET")
    require_positive(kernel, strides, dilations)
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        pads = _same_pads(mode, size, Window(kernel, strides, dilations=dilations))
    else:
        pads = read_pads(node)
    return Window(kernel, strides, pads, dilations, bool(node.integer("ceil_mode", 0)))


def require_positive(*pairs: tuple[int, int]) -> None:
    """Raise InvalidDataError unless kernel, strides and dilations, in any order, are at least 1."""
    if any(min(pair) < 1 for pair in pairs):
        raise InvalidDataError("kernel, strides and dilations must be at least 1")


def read_pads(node: OnnxNode) -> tuple[int, int, int, int]:
    """Return (top, left, bottom, right) of a node whose pads do not depend on its input."""
    pads = node.integers("pads") or (0, 0, 0, 0)
    if len(pads) != 4:
        raise NotALayerError("not 2-D")
    mode = node.text("auto_pad", "NOTSET")
    if mode == "VALID":
        return 0, 0, 0, 0
    if mode != "NOTSET":
        raise InvalidDataError(f"attribute auto_pad has the unknown value '{mode}'")
    if min(pads) < 0:
        raise NotALayerError("negative pads")
    top, left, bottom, right = pads
    return top, left, bottom, right


def pair(node: OnnxNode, attribute: str, default: int) -> tuple[int, int]:
    """Return an attribute that is (height, width); both are `default` if it is absent."""
    values = node.integers(attribute) or (default, default)
    if len(values) != 2:
        raise NotALayerError("not 2-D")
    return values[0], values[1]


def _same_pads(mode: str, size: tuple[int, int], window: Window) -> tuple[int, int, int, int]:
    """Return pads for ceil(size / stride) outputs; an odd pad is larger at one end."""
    begins, ends = [], []
    for length, stride, reach in zip(size, window.strides, window.reach, strict=True):
        total = max((-(-length // stride) - 1) * stride + reach - length, 0)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
    return begins[0], begins[1], ends[0], ends[1]
