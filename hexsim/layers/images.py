"""Pooling, Resize (modes: ONNX's; cubic, antialiasing and cropping are left out), ColourConversion.

ColourConversion converts pictures of a camera or a decoder to blue, green, red. Stored shapes: rgb
is height x width x 3; rgba and argb32 have a fourth channel that is ignored. nv21 is one plane, 3/2
height x width x 1: all luma rows, then rows of V, U, V, U for 2x2 pixels. argb32 is a 32-bit word
per pixel; on the little-endian CPUs of a phone its bytes are B, G, R, A. Source of names and byte
orders: SNPE guide, input image formatting. It does not state the matrix of NV21: used is that of
BT.601 with luma 16 to 235, as OpenVINO's NV12toRGB states it (assumed).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self, get_args

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Factor, Positive
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import EVERYWHERE, INTEGER, NO_HTA_LAYER, Limit, Support
from hexsim.layers._bases import Moving, Window
from hexsim.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Pooling(Layer):
    """2-D pooling of an NHWC tensor; a global pooling has a window as large as its input.

    With `count_include_pad` an average counts the padding.
    """

    type: ClassVar[str] = "pooling"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "as inputs"
    ranks: ClassVar[tuple[int, ...]] = (4,)

    kind: Literal["max", "average"]
    window: Window
    count_include_pad: bool = False

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, H', W', C)."""
        batch, height, width, channels = inputs[0]
        return ((batch, *self.window.output_size(height, width), channels),)

    @property
    def moves_codes(self) -> bool:
        """True for a maximum."""
        return self.kind == "max"

    def turned(self) -> Self:
        """Return it with a turned window."""
        return self.replace(window=self.window.turned())

    def is_global(self, height: int, width: int) -> bool:
        """Return whether one window covers the whole unpadded input."""
        return self.window.kernel == (height, width) and not any(self.window.pads)


CoordinateMode = Literal["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
NearestMode = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
AspectPolicy = Literal["stretch", "not_larger", "not_smaller"]


@dataclass(frozen=True, kw_only=True)
class Resize(Layer):
    """Samples an NHWC tensor at other heights and widths.

    Either `scales` or `size` (both height, width) is given; with `scales` the size is rounded
    down. If `aspect` is not to stretch, both axes have the smaller of the scales that `size` asks
    for, so that the output is not larger, or the larger one; its size is then rounded to nearest.
    `coordinates` maps output pixels to positions in the input; for the nearest kind,
    `rounding` selects the pixel.
    """

    type: ClassVar[str] = "resize"
    support: ClassVar[Support] = EVERYWHERE
    sign: ClassVar[Sign] = "as inputs"
    ranks: ClassVar[tuple[int, ...]] = (4,)

    kind: Literal["nearest", "bilinear"]
    scales: tuple[Factor, Factor] | None = None
    size: tuple[Positive, Positive] | None = None
    aspect: AspectPolicy = "stretch"
    coordinates: CoordinateMode = "half_pixel"
    rounding: NearestMode = "round_prefer_floor"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return (N, H', W', C)."""
        batch, height, width, channels = inputs[0]
        if self.size is not None and self.aspect == "stretch":
            return ((batch, *self.size, channels),)
        if self.size is not None:
            factor = np.float32(self.scales_of(height, width)[0])
            kept = (int(np.floor(np.float32(n) * factor + 0.5)) for n in (height, width))
            return ((batch, *kept, channels),)
        scaled = (
            int(np.float32(size) * np.float32(scale))  # in float32, as ONNX does
            for size, scale in zip((height, width), self._scales, strict=True)
        )
        return ((batch, *scaled, channels),)

    def fault(self) -> str | None:
        """Return a fault unless exactly one of scales and size is given."""
        if (self.scales is None) == (self.size is None):
            return "one of the fields 'scales' and 'size' is needed, and not both"
        if self.size is None and self.aspect != "stretch":
            return "field 'aspect' needs the field 'size'"
        return None

    @property
    def moves_codes(self) -> bool:
        """True for nearest pixels."""
        return self.kind == "nearest"

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return the kind."""
        return self.kind

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether both scales are one."""
        _, height, width, _ = inputs[0]
        return self.scales_of(height, width) == (1, 1)

    def scales_of(self, height: int, width: int) -> tuple[float, float]:
        """Return the scales (height, width) of the output relative to an input of this size."""
        if self.size is None:
            return self._scales
        scales = self.size[0] / height, self.size[1] / width
        if self.aspect == "stretch":
            return scales
        kept = min(scales) if self.aspect == "not_larger" else max(scales)
        return kept, kept

    @property
    def _scales(self) -> tuple[float, float]:
        if self.scales is None:
            raise InvalidDataError(f"layer '{self.name}' has neither scales nor a size")
        return self.scales


ConvertedEncoding = Literal["rgb", "rgba", "argb32", "nv21"]
CONVERTED: tuple[ConvertedEncoding, ...] = get_args(ConvertedEncoding)

YVU_ORIGIN = (16, 128, 128)
"""The values of Y, V and U for black."""
YVU_TO_BGR = ((1.164, 1.164, 1.164), (0.0, -0.813, 1.596), (2.018, -0.391, 0.0))
"""The contributions of Y, V and U (rows, minus their origin) to blue, green and red (columns)."""

_BGR_CHANNELS: dict[ConvertedEncoding, tuple[int, int, int]] = {
    "rgb": (2, 1, 0),
    "rgba": (2, 1, 0),
    "argb32": (0, 1, 2),
}


def _nv21_without_bytes(layer: ColourConversion, network: Network) -> bool:
    is_image = network.input_format(layer.inputs[0]).type == "image"
    return layer.input_encoding_in == "nv21" and not is_image


@dataclass(frozen=True, kw_only=True)
class ColourConversion(Moving):
    """Blue, green, red from a picture in another encoding, values 0 to 255."""

    type: ClassVar[str] = "color_space_conversion"
    support: ClassVar[Support] = NO_HTA_LAYER
    ranks: ClassVar[tuple[int, ...]] = (4,)
    limits: ClassVar[tuple[Limit, ...]] = (
        Limit(INTEGER, _nv21_without_bytes, "NV21 is decoded from bytes, an input of type image"),
    )

    input_encoding_in: ConvertedEncoding
    input_encoding_out: Literal["bgr"]

    @property
    def channels(self) -> tuple[int, int, int] | None:
        """The input channel of each output channel; None for nv21, which is computed."""
        return _BGR_CHANNELS.get(self.input_encoding_in)

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the picture's shape, with three channels."""
        batch, height, width, channels = inputs[0]
        if self.input_encoding_in == "nv21":
            height = height // 3 * 2
        shape = (batch, height, width, 3)
        if encoded_shape(self.input_encoding_in, shape) != (*inputs[0][:3], channels):
            raise InvalidDataError(
                f"{inputs[0]} is not the shape of a picture in {self.input_encoding_in}"
            )
        return (shape,)


def encoded_shape(encoding: ConvertedEncoding, picture: Shape) -> Shape:
    """Return the stored shape of the input that becomes `picture` (batch, height, width, 3).

    Raises InvalidDataError for an nv21 picture of odd height or width.
    """
    batch, height, width, _ = picture
    if encoding != "nv21":
        return (batch, height, width, 3 if encoding == "rgb" else 4)
    if height % 2 or width % 2:
        raise InvalidDataError(f"NV21 needs an even height and width, not {height}x{width}")
    return (batch, height // 2 * 3, width, 1)
