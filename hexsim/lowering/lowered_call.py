"""The parts of every lowered kernel call: the layer's name, its operands and its result."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Shape
from hexsim.quantization.encodings import Encoding
from hexsim.records import dataclass

Codes = npt.NDArray[np.unsignedinteger[Any]]
"""Activations: u8 or u16."""
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Operand:
    """A u8 or u16 tensor a kernel reads or writes: shape, encoding, and codes if constant."""

    name: str
    shape: Shape
    encoding: Encoding
    codes: Codes | None = None

    @property
    def bits(self) -> int:
        """Return the width of the codes (quantised values), 8 or 16."""
        return self.encoding.bitwidth

    @property
    def zero_point(self) -> int:
        """Return the code of real zero."""
        return self.encoding.zero_point

    @property
    def delta(self) -> float:
        """Return the real units per code."""
        return self.encoding.delta


class CallOperands(NamedTuple):
    """The fields that every lowered call begins with."""

    layer: str
    inputs: tuple[Operand, ...]
    output: Operand


@dataclass(frozen=True, eq=False)
class LoweredCall:
    """One kernel call as integers; each layer family adds its own."""

    layer: str
    inputs: tuple[Operand, ...]
    output: Operand
