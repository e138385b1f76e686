"""Resize: an image in another size, by the nearest pixel or bilinear interpolation.

Source of the modes: ONNX, Resize. Cubic interpolation, antialiasing and cropping are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hexsim.errors import InvalidDataError
from hexsim.graph.domains import Factor, Positive
from hexsim.graph.ir import Layer, Shape, Sign
from hexsim.graph.support import EVERYWHERE, Support

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
