"""Convert: the same values in another encoding.

Where it stands between two widths of activations, the encodings of its ends say which ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hexsim.graph.ir import Layer, Shape


@dataclass(frozen=True, kw_only=True)
class Convert(Layer):
    """No arithmetic on real values: in float its output is its input."""

    type: ClassVar[str] = "convert"

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Unchanged."""
        return (inputs[0],)
