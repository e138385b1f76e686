"""The classes by which a user describes an operator."""

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, InvalidDataError, unknown
from hexsim.records import dataclass, field

Shape = tuple[int, ...]
Array = npt.NDArray[Any]
Processor = Literal["cpu", "gpu", "dsp"]
"""The processors for which a cost is stated; "dsp" is the vector unit, on which `aip` runs layers
too."""
PROCESSORS: tuple[Processor, ...] = get_args(Processor)

_TYPES = ("float32", "int8", "int16", "int32", "int64", "uint8", "bool")
"""Element types of outputs."""
_MOST_WORK = 2.0**62
"""Limit of the cycles or operations of one node; a larger number is taken for a mistake."""


@dataclass(frozen=True)
class Scale:
    """How the codes of a tensor stand for real numbers: real = delta * (code - zero_point)."""

    delta: float
    zero_point: int
    bits: int

    def real(self, codes: Array) -> npt.NDArray[np.float64]:
        """Return the real values of `codes`, of any shape."""
        return (codes.astype(np.float64) - self.zero_point) * self.delta

    def codes(self, values: Array) -> npt.NDArray[np.int64]:
        """Return the nearest codes of real `values`, ties upwards, within the range."""
        steps = np.asarray(values, np.float64) / self.delta + self.zero_point
        return np.clip(np.floor(steps + 0.5), 0, (1 << self.bits) - 1).astype(np.int64)


@dataclass(frozen=True)
class Node:
    """A node of the operator, as the user's functions receive it.

    `attributes` are those of the ONNX node: numbers, texts, lists of them, arrays. `inputs` are the
    shapes of all inputs, None for an optional input that is left out. `outputs` are the shapes of
    the outputs, which the shape rule does not receive. `input_scales` (None for constants, which
    are passed as real numbers) and `output_scale` are set only for a function of codes.
    """

    name: str
    attributes: Mapping[str, Any]
    inputs: tuple[Shape | None, ...]
    outputs: tuple[Shape, ...] = ()
    input_scales: tuple[Scale | None, ...] = ()
    output_scale: Scale | None = None


@dataclass(frozen=True)
class Cost:
    """What a node costs on a processor: clock cycles, operations on elements, or both.

    `cycles` are those of one thread that does all the work; on the DSP they are the packets that it
    issues. `operations` are turned into time as those of other layers are: at the rate of the CPU
    and GPU runtimes, and on the DSP at a vector instruction of 128 bytes per packet. At most
    `threads` threads or cores share the work; None means all of them. hexsim adds the bytes of all
    tensors.
    """

    cycles: float = 0.0
    operations: float = 0.0
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("cycles", "operations"):
            number = getattr(self, name)
            if not isinstance(number, Real) or not 0 <= float(number) < _MOST_WORK:
                raise InvalidDataError(f"{name} is {number!r}; expected a number from zero on")
        if self.threads is not None and self.threads < 1:
            raise InvalidDataError(
                f"threads is {self.threads!r}; expected a whole number from 1 on"
            )


CostRule = Cost | Callable[[Node], Cost]


@dataclass(frozen=True, eq=False, kw_only=True)
class UserLayer:
    """An ONNX operator, by its name and domain, and what it computes.

    `shapes(node)` returns the shape of each output. `floats(node, *inputs)` returns the output, or
    all outputs, for float32 arrays; an input that is left out is None. `codes(node, *inputs)` does
    the same for arrays of unsigned codes; constants are passed as real numbers. Arrays and shapes
    are in the order of the ONNX file's axes, unless `any_order` is true: such an operator does the
    same to every element, wherever it lies. `costs` has, by processor, the cost of a node or a
    function that returns it. `dtypes` are the element types of the outputs, float32 by default.
    `source` is where the layer comes from; the reader of a file sets it.

    Raises HexsimError for anything else.
    """

    operator: str
    domain: str = ""
    shapes: Callable[[Node], Any]
    floats: Callable[..., Any]
    codes: Callable[..., Any] | None = None
    costs: Mapping[Processor, CostRule] = field(default_factory=dict)
    any_order: bool = False
    dtypes: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if not self.operator or not isinstance(self.operator, str):
            raise HexsimError(f"a user-defined layer has the operator {self.operator!r}, no name")
        for attribute in ("shapes", "floats", "codes"):
            function = getattr(self, attribute)
            if not callable(function) and (function is not None or attribute != "codes"):
                raise HexsimError(f"{self.name}: {attribute} is {function!r}, which is no function")
        for processor in self.costs:
            if processor not in PROCESSORS:
                raise unknown(f"processor of {self.name},", str(processor), PROCESSORS)
        for dtype in self.dtypes:
            if dtype not in _TYPES:
                raise unknown(f"element type of {self.name},", str(dtype), _TYPES)

    @property
    def name(self) -> str:
        """Return the operator, behind its domain if that is not the standard's."""
        plain = self.domain in ("", "ai.onnx")
        return self.operator if plain else f"{self.domain}.{self.operator}"

    def dtype(self, position: int) -> str:
        """Return the element type of an output."""
        return self.dtypes[position] if position < len(self.dtypes) else "float32"
