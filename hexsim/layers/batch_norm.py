"""BatchNorm: a scale and shift per channel that no convolution could absorb."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import ANY_BUT_SCALAR, NamedShapes, Shape, Sign
from hexsim.graph.support import NO_HTA_LAYER, Support
from hexsim.layers._clamp import NO_CLAMP, Clamp
from hexsim.layers._parameters import of_channels
from hexsim.layers._per_pixel import PerPixel

_IMAGE_AXES = 4


@dataclass(frozen=True, kw_only=True)
class BatchNorm(PerPixel):
    """scale * x + shift; both are (channels,) along the last stored axis.

    `moments` is (2, channels): the mean and standard deviation of each channel of the result before
    the clamp during training; None if unknown.
    """

    type: ClassVar[str] = "batchnorm"
    support: ClassVar[Support] = NO_HTA_LAYER
    sign: ClassVar[Sign] = "signed"
    moves_codes: ClassVar[bool] = False
    ranks: ClassVar[tuple[int, ...]] = ANY_BUT_SCALAR

    scale: str
    shift: str
    clamp: Clamp = NO_CLAMP
    moments: str | None = None

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return 1-D for vectors and 1-D images."""
        return "1-D" if len(inputs[0]) < _IMAGE_AXES else ""

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """See the class."""
        return of_channels(inputs[0][-1:], self.scale, (self.shift,), self.moments)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Scale, then shift."""
        return (self.scale, self.shift)

    @property
    def statistics(self) -> tuple[str, ...]:
        """The moments, if they are known."""
        return () if self.moments is None else (self.moments,)
