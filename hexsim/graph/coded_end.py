"""CodedEnd: an input or output that its ONNX file holds as codes, though the network has it real.

A quantised file may take and hand out integers. The network holds what they stand for. Whoever
hands over numbers of the file's type means codes, and gets codes back from such an output.
"""

from __future__ import annotations

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
        """Say what is wrong with it, if anything."""
        limits = np.iinfo(self.type)
        if not (np.isfinite(self.scale) and self.scale > 0):
            return f"codes with the scale {self.scale}; expected a positive number"
        if not limits.min <= self.zero_point <= limits.max:
            return f"codes with the zero point {self.zero_point}, which is no {self.type}"
        return None

    def real(self, codes: npt.NDArray[np.generic]) -> npt.NDArray[np.float32]:
        """The singles that codes of its type stand for, as a DequantizeLinear makes them."""
        distances = np.asarray(codes, np.int64) - self.zero_point
        return np.asarray(distances.astype(np.float32) * np.float32(self.scale))

    def codes(self, reals: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """The nearest codes of real numbers, halves to even, as a QuantizeLinear makes them."""
        limits = np.iinfo(self.type)
        steps = np.rint(reals.astype(np.float32) / np.float32(self.scale)) + self.zero_point
        return np.asarray(np.clip(steps, limits.min, limits.max), self.type)

    def __str__(self) -> str:
        return f"{self.type}, scale {self.scale:.6g}, zero point {self.zero_point}"
