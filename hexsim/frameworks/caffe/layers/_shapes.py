"""Axes, inputs and windows as layers of Caffe speak of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hexsim.frameworks.caffe.description import CaffeLayer, Shape
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.parameters import Parameters


def require_counts(layer: CaffeLayer, inputs: int | None = 1, outputs: int | None = 1) -> None:
    """Raise HexsimError unless a layer has so many bottoms and tops; None: at least one."""
    for what, names, count in (("bottom", layer.inputs, inputs), ("top", layer.outputs, outputs)):
        if not names or (count is not None and len(names) != count):
            raise layer.error(f"it has {len(names)} {what}s, and takes {count or 'one or more'}")


def axis_of(layer: CaffeLayer, axis: int, rank: int, what: str = "axis") -> int:
    """The axis, counted from the front; HexsimError if a tensor of so many axes has none such."""
    if not -rank <= axis < rank:
        raise layer.error(f"'{what}' is {axis}, and its input has {rank} axes")
    return axis % rank


def image(layer: CaffeLayer, net: CaffeGraph) -> tuple[int, int, int, int]:
    """The shape (N, C, H, W) of the input; HexsimError if that is no image."""
    shape = net.shape(layer)
    if len(shape) != 4:
        raise layer.error(f"its input has the shape {list(shape)}, not that of images")
    batch, channels, height, width = shape
    return batch, channels, height, width


def pair(given: Parameters, names: tuple[str, str], both: str, default: int) -> tuple[int, int]:
    """A value per axis, (height, width): one for both, one each, or two fields."""
    first, second = names
    if given.has(first) or given.has(second):
        if given.has(both):
            raise given.error(f"it has '{both}' and '{first}' or '{second}'; give one of them")
        return given.value(first, default), given.value(second, default)
    values = given.values(both) or (default,)
    if len(values) > 2:
        raise given.error(f"'{both}' is there {len(values)} times, and images have two axes")
    return values[0], values[-1]


@dataclass(frozen=True)
class Sliding:
    """A window over an image, (height, width) each; padding is the same on both sides."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    pads: tuple[int, int]
    dilations: tuple[int, int] = (1, 1)

    @property
    def attributes(self) -> dict[str, Any]:
        """As ONNX writes it, dilations aside."""
        return {
            "kernel_shape": list(self.kernel),
            "strides": list(self.strides),
            "pads": [*self.pads, *self.pads],
        }

    @property
    def reach(self) -> tuple[int, int]:
        """What one window spans."""
        height, width = ((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))
        return height, width


def sliding(given: Parameters, *, dilated: bool) -> Sliding:
    """Read a window; HexsimError if it is none."""
    names = ("kernel_h", "kernel_w")
    if not given.has("kernel_size") and not all(map(given.has, names)):
        raise given.error("it has no 'kernel_size'")
    window = Sliding(
        pair(given, names, "kernel_size", 0),
        pair(given, ("stride_h", "stride_w"), "stride", 1),
        pair(given, ("pad_h", "pad_w"), "pad", 0),
        _both(given.values("dilation"), given) if dilated else (1, 1),
    )
    if min(*window.kernel, *window.strides, *window.dilations) < 1 or min(window.pads) < 0:
        raise given.error("kernel, stride and dilation must be at least 1, and pads at least 0")
    return window


def _both(values: tuple[int, ...], given: Parameters) -> tuple[int, int]:
    if len(values) > 2:
        raise given.error(f"'dilation' is there {len(values)} times, and images have two axes")
    return (values[0], values[-1]) if values else (1, 1)


def broadcast(shape: Shape, axis: int, rank: int) -> Shape:
    """The shape of an operand whose first axis is `axis` of a tensor with `rank` axes."""
    return (*shape, *(1,) * (rank - axis - len(shape)))
