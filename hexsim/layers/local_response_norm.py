"""LocalResponseNorm: normalisation across neighbouring channels (CMRN)."""

from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.domains import Positive, Real
from hexsim.graph.ir import ANY_BUT_SCALAR, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support
from hexsim.layers._per_pixel import PerPixel


@dataclass(frozen=True, kw_only=True)
class LocalResponseNorm(PerPixel):
    """y = x / (bias + alpha / size * sum of x^2 over `size` channels around)^beta.

    The window is the ONNX one: from c - floor((size-1)/2) to c + ceil((size-1)/2).
    """

    type: ClassVar[str] = "cmrn"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "as inputs"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    size: Positive
    alpha: Real
    beta: Real
    bias: Real
