"""Which dense convolutions the kernels of a chip multiply by signed weights.

Hexagon NN has such kernels for V65 and V66. They read the weights of 32 output channels (a slice)
from VTCM, so a layer whose slice does not fit there runs the kernel of V60, which takes unsigned
codes (quantised values) with a zero point. So does a layer with a stride above 2 along the width on
V66. The kernels of first layers, depthwise convolutions and fully connected layers take unsigned
codes on every version. This is the one place that decides it, for values and for times.

Source: Hexagon NN, op_supernode_new.c, supernode_check, and its output codes
(tests/hexagon_nn). That the tensor processor of V68 and later, whose kernels are not published,
takes the codes as they are is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

_FIRST_VERSION = 65
MOST_FIRST_LAYER_CHANNELS = 4
"""Input channels up to which the kernel of first layers is used."""
_SLICE = 32
"""Output channels whose weights are copied to VTCM together; channels of the input are padded to
a multiple of it."""
_STRIDE_LIMITED_FROM = 66
_LARGEST_STRIDE = 2


@dataclass(frozen=True)
class SignedKernels:
    """The convolution kernels of a vector unit: its version, e.g. 66, and bytes of its VTCM."""

    version: int
    vtcm_bytes: int

    @classmethod
    def of(cls, version: int, vtcm_bytes: int) -> SignedKernels | None:
        """Return the kernels of an architecture version, None before V65."""
        return cls(version, vtcm_bytes) if version >= _FIRST_VERSION else None

    def take(self, kernel: tuple[int, int], channels: int, stride: int) -> bool:
        """Return whether a dense convolution multiplies by signed weights.

        `kernel` is (height, width), `channels` are those of the input, in one group, and `stride`
        is that along the width.
        """
        if channels <= MOST_FIRST_LAYER_CHANNELS:
            return False
        if self.version >= _STRIDE_LIMITED_FROM and stride > _LARGEST_STRIDE:
            return False
        return slice_bytes(kernel, channels) <= self.vtcm_bytes


def slice_bytes(kernel: tuple[int, int], channels: int) -> int:
    """Return the bytes of the weights of 32 output channels; biases are elsewhere."""
    padded = -(-channels // _SLICE) * _SLICE
    return kernel[0] * kernel[1] * padded * _SLICE
