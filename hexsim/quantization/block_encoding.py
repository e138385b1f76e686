"""BlockEncoding: 4-bit weights in blocks whose scales are whole multiples of one per channel.

AIMET calls it LPBQ, low-power blockwise quantisation. Each block of input channels of an output
channel c has a whole scale k, and a value is `delta[c] * k * q` with q of few bits. Because k is
whole, `k * q` is a code of the wider, decompressed type with one step per channel, which is what
the kernels multiply with. So this is an encoding per channel whose codes are coarser in some
blocks; a file holds the decompressed codes.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hexsim.graph.domains import UNSTORED
from hexsim.quantization.encodings import AxisEncoding


@dataclass(frozen=True)
class BlockEncoding(AxisEncoding):
    """An encoding per channel, of weights of shape (..., input channels, channels).

    `multiples` has the whole scale of each block, by channel; a block has `block_size` input
    channels. `bits` is the width of q. A file stores the encoding per channel only.
    """

    bits: int = field(default=4, metadata=UNSTORED)
    block_size: int = field(default=1, metadata=UNSTORED)
    multiples: tuple[tuple[int, ...], ...] = field(default=(), metadata=UNSTORED)

    def quantize(self, x: npt.NDArray[np.floating]) -> npt.NDArray[np.integer]:
        """Return the decompressed codes of `x`; a tie takes the larger q, as elsewhere.

        Values of another shape than the weight's, such as extremes of channels, have no blocks and
        become the nearest codes of their channel.
        """
        blocks = np.array(self.multiples, np.float64).T
        multiples = np.repeat(blocks, self.block_size, axis=0)
        if x.shape[-2:] != multiples.shape:
            return super().quantize(x)
        half = 1 << (self.bits - 1)
        codes = np.empty(x.shape, self.dtype)
        planes = x.reshape(-1, *multiples.shape)
        for plane, written in zip(planes, codes.reshape(planes.shape), strict=True):
            q = np.floor(plane / (self.deltas * multiples) + 0.5)
            written[...] = np.clip(q, -half, half - 1) * multiples
        return codes
