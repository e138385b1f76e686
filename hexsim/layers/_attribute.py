"""An attribute of an ONNX node, as layers and files store it.

The shapes of constants with one number per channel.
"""

import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from hexsim.graph.domains import NUMBER_TYPES, Sizes
from hexsim.graph.ir import NamedShapes, Shape
from hexsim.records import dataclass
from hexsim.texts.text import visible

Kind = Literal["int", "float", "text", "ints", "floats", "texts", "array"]


@dataclass(frozen=True)
class Attribute:
    """One value, several of a kind, or an array of `dtype` and `shape`, little endian in `data`."""

    name: str
    kind: Kind
    ints: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    dtype: str = "float32"
    shape: Sizes = ()
    data: bytes = b""

    def fault(self) -> str | None:
        """Return why it has no valid value, None if it has one."""
        if self.kind in ("int", "float", "text") and len(self._items) != 1:
            return f"attribute '{self.name}' has {len(self._items)} values, not one"
        if self.kind == "array":
            element_type = NUMBER_TYPES.get(self.dtype)
            if element_type is None or element_type.kind == "c":
                return f"attribute '{self.name}' holds elements of an unknown type"
            if math.prod(self.shape) * element_type.itemsize != len(self.data):
                return f"attribute '{self.name}' does not hold the array that it says"
        return None

    @property
    def value(self) -> Any:
        """A number, a text, a tuple of them, or a read-only array."""
        if self.kind == "array":
            stored = np.frombuffer(self.data, np.dtype(self.dtype).newbyteorder("<"))
            return stored.reshape(self.shape)
        return self._items if self.kind.endswith("s") else self._items[0]

    def __str__(self) -> str:
        if self.kind == "array":
            return f"{self.name} {self.dtype} {'x'.join(map(str, self.shape))}"
        words = (f"{item:g}" if isinstance(item, float) else f"{item}" for item in self._items)
        return visible(f"{self.name} {' '.join(words)}")

    @property
    def _items(self) -> tuple[Any, ...]:
        return {"int": self.ints, "float": self.floats}.get(self.kind.rstrip("s"), self.texts)


def of_channels(
    weight: Shape, name: str, others: Iterable[str | None], moments: str | None = None
) -> NamedShapes:
    """Return the shapes of a weight, of `others` with a number per output channel, and of moments.

    The last axis of the weight is the output channel; constants that are None are left out.
    """
    channels = weight[-1]
    shapes = [
        (name, weight),
        *((operand, (channels,)) for operand in others),
        (moments, (2, channels)),
    ]
    return [(constant, shape) for constant, shape in shapes if constant is not None]
