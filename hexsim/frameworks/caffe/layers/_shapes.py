"""Reads axes, numbers of inputs, and windows as layers of Caffe state them."""

from typing import Any

from hexsim.frameworks.caffe.description import CaffeLayer, Shape
from hexsim.frameworks.caffe.graph import CaffeGraph
from hexsim.frameworks.caffe.parameters import Parameters
from hexsim.records import dataclass


def axis_of(layer: CaffeLayer, axis: int, rank: int, parameter: str = "axis") -> int:
    """Return the axis counted from the front; HexsimError if it is outside `rank` axes."""
    if not -rank <= axis < rank:
        raise layer.error(f"'{parameter}' is {axis}, and its input has {rank} axes")
    return axis % rank


def image(layer: CaffeLayer, net: CaffeGraph) -> tuple[int, int, int, int]:
    """Return the shape (N, C, H, W) of the input; HexsimError if it is not an image."""
    shape = net.shape(layer)
    if len(shape) != 4:
        raise layer.error(f"its input has the shape {list(shape)}, not that of images")
    batch, channels, height, width = shape
    return batch, channels, height, width


def pair(fields: Parameters, names: tuple[str, str], both: str, default: int) -> tuple[int, int]:
    """Return a value per axis (height, width), from one field or from one per axis."""
    first, second = names
    if fields.has(first) or fields.has(second):
        if fields.has(both):
            raise fields.error(f"it has '{both}' and '{first}' or '{second}'; give one of them")
        return fields.value(first, default), fields.value(second, default)
    values = fields.values(both) or (default,)
    if len(values) > 2:
        raise fields.error(f"'{both}' is there {len(values)} times, and images have two axes")
    return values[0], values[-1]


@dataclass(frozen=True)
class Sliding:
    """A window over an image, as (height, width); padding is the same on both sides."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    pads: tuple[int, int]
    dilations: tuple[int, int] = (1, 1)

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of ONNX without dilations."""
        return {
            "kernel_shape": list(self.kernel),
            "strides": list(self.strides),
            "pads": [*self.pads, *self.pads],
        }

    @property
    def reach(self) -> tuple[int, int]:
        """Rows and columns that one window spans."""
        height, width = ((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))
        return height, width


def sliding(fields: Parameters, *, dilated: bool) -> Sliding:
    """Read a window; HexsimError if it is not valid."""
    names = ("kernel_h", "kernel_w")
    if not fields.has("kernel_size") and not all(map(fields.has, names)):
        raise fields.error("it has no 'kernel_size'")
    window = Sliding(
        pair(fields, names, "kernel_size", 0),
        pair(fields, ("stride_h", "stride_w"), "stride", 1),
        pair(fields, ("pad_h", "pad_w"), "pad", 0),
        _both(fields.values("dilation"), fields) if dilated else (1, 1),
    )
    if min(*window.kernel, *window.strides, *window.dilations) < 1 or min(window.pads) < 0:
        raise fields.error("kernel, stride and dilation must be at least 1, and pads at least 0")
    return window


def _both(values: tuple[int, ...], fields: Parameters) -> tuple[int, int]:
    if len(values) > 2:
        raise fields.error(f"'dilation' is there {len(values)} times, and images have two axes")
    return (values[0], values[-1]) if values else (1, 1)


def broadcast(shape: Shape, axis: int, rank: int) -> Shape:
    """Return `shape`, which begins at `axis` of `rank` axes, with sizes of one appended."""
    return (*shape, *(1,) * (rank - axis - len(shape)))
