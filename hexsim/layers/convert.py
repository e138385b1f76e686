"""Convert: the same values in another encoding.

Between two bit widths of activations, the encodings of its input and output give the widths.
"""

from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Sign
from hexsim.graph.support import NO_HTA_LAYER, Support
from hexsim.layers._per_pixel import PerPixel


@dataclass(frozen=True, kw_only=True)
class Convert(PerPixel):
    """Changes no real values: in float its output equals its input."""

    type: ClassVar[str] = "convert"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False
