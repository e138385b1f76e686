"""ColourConversion: converts pictures of a camera or a decoder to blue, green, red.

Stored shapes. rgb is height x width x 3; rgba and argb32 have a fourth channel that is ignored.
nv21 is one plane, 3/2 height x width x 1: all luma rows, then rows of V, U, V, U for 2x2 pixels.
argb32 is a 32-bit word per pixel; on the little-endian CPUs of a phone its bytes are B, G, R, A.

Source of names and byte orders: SNPE guide, input image formatting. It does not state the matrix
of NV21: used is that of BT.601 with luma 16 to 235, as OpenVINO's NV12toRGB states it (assumed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from hexsim.errors import InvalidDataError
from hexsim.graph.ir import Layer, Network, Shape, Sign
from hexsim.graph.support import INTEGER, NO_HTA_LAYER, Rule, Support

ConvertedEncoding = Literal["rgb", "rgba", "argb32", "nv21"]
CONVERTED: tuple[ConvertedEncoding, ...] = get_args(ConvertedEncoding)

YVU_ORIGIN = (16, 128, 128)
"""The values of Y, V and U for black."""
YVU_TO_BGR = (
    (1.164, 1.164, 1.164),
    (0.0, -0.813, 1.596),
    (2.018, -0.391, 0.0),
)
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
class ColourConversion(Layer):
    """Blue, green, red from a picture in another encoding, values 0 to 255."""

    type: ClassVar[str] = "color_space_conversion"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    ranks: ClassVar[tuple[int, ...]] = (4,)
    moves_codes: ClassVar[bool] = True
    limits: ClassVar[tuple[Rule, ...]] = (
        Rule(INTEGER, _nv21_without_bytes, "NV21 is decoded from bytes, an input of type image"),
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
