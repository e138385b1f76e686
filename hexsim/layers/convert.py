"""Convert: the same values in another encoding.

Where it stands between two widths of activations, the encodings of its ends say which ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Sign
from hexsim.graph.support import NO_HTA_LAYER, Support
from hexsim.layers._per_pixel import PerPixel


@dataclass(frozen=True, kw_only=True)
class Convert(PerPixel):
    """No arithmetic on real values: in float its output is its input."""

    type: ClassVar[str] = "convert"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False
