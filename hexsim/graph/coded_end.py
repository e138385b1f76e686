"""CodedEnd: an input or output that has quantised values (codes) in its ONNX file.

A quantised file may have integer inputs and outputs; the network has their real values. Inputs that
are given in the file's integer type are taken as codes, and such outputs are returned as codes.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

CodeType = Literal["uint8", "int8", "uint16", "int16"]


@dataclass(frozen=True)
class CodedEnd:
    """The type of the codes, and real = scale * (code - zero_point)."""

    type: CodeType
    scale: float
    zero_point: int

    def fault(self) -> str | None:
        """Return its fault, if there is one."""
        limits = np.iinfo(self.type)
        if not (np.isfinite(self.scale) and self.scale > 0):
            return f"codes with the scale {self.scale}; expected a positive number"
        if not limits.min <= self.zero_point <= limits.max:
            return f"codes with the zero point {self.zero_point}, which is no {self.type}"
        return None

    def real(self, codes: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
        """Return the float32 values of codes of its type, as DequantizeLinear does."""
        distances = np.asarray(codes, np.int64) - self.zero_point
        return np.asarray(distances.astype(np.float32) * np.float32(self.scale))

    def codes(self, reals: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return the nearest codes of real numbers, ties to even, as QuantizeLinear does."""
        limits = np.iinfo(self.type)
        steps = np.rint(reals.astype(np.float32) / np.float32(self.scale)) + self.zero_point
        return np.asarray(np.clip(steps, limits.min, limits.max), self.type)

    def __str__(self) -> str:
        return f"{self.type}, scale {self.scale:.6g}, zero point {self.zero_point}"
