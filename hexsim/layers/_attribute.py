"""An attribute of an ONNX node, as a layer that keeps it and a file hold it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hexsim.graph.domains import Natural
from hexsim.texts.names import visible

Kind = Literal["int", "float", "text", "ints", "floats", "texts", "array"]
_NUMBERS = "biuf"


@dataclass(frozen=True)
class Attribute:
    """One value, several of a kind, or an array of `dtype` and `shape`, little endian in `data`."""

    name: str
    kind: Kind
    ints: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    dtype: str = "float32"
    shape: tuple[Natural, ...] = ()
    data: bytes = b""

    def fault(self) -> str | None:
        """Say what keeps it from having a value, if anything."""
        if self.kind in ("int", "float", "text") and len(self._several) != 1:
            return f"attribute '{self.name}' has {len(self._several)} values, not one"
        if self.kind == "array":
            try:
                known = np.dtype(self.dtype)
            except TypeError:
                return f"attribute '{self.name}' holds elements of an unknown type"
            fits = math.prod(self.shape) * known.itemsize == len(self.data)
            if known.kind not in _NUMBERS or not fits:
                return f"attribute '{self.name}' does not hold the array that it says"
        return None

    @property
    def value(self) -> Any:
        """A number, a text, a tuple of them, or a read-only array."""
        if self.kind == "array":
            stored = np.frombuffer(self.data, np.dtype(self.dtype).newbyteorder("<"))
            return stored.reshape(self.shape)
        return self._several if self.kind.endswith("s") else self._several[0]

    def __str__(self) -> str:
        if self.kind == "array":
            return f"{self.name} {self.dtype} {'x'.join(map(str, self.shape))}"
        words = (f"{one:g}" if isinstance(one, float) else f"{one}" for one in self._several)
        return visible(f"{self.name} {' '.join(words)}")

    @property
    def _several(self) -> tuple[Any, ...]:
        return {"int": self.ints, "float": self.floats}.get(self.kind.rstrip("s"), self.texts)
