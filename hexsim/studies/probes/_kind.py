"""What the files of probes offer: kinds of kernels that `hexsim kernel` takes by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hexsim.graph.ir import Layer, Shape
from hexsim.layers import Window

IMAGE = r"(?P<h>\d+)x(?P<w>\d+)x(?P<c>\d+)"
WINDOW = r":(?P<kh>\d+)x(?P<kw>\d+)(:s(?P<s>\d+))?"
Sizes = Mapping[str, int]
"""The groups of a pattern that a shape gives."""


def _none(sizes: Sizes) -> tuple[Shape, ...]:
    """Layers without parameters."""
    return ()


@dataclass(frozen=True)
class KernelKind:
    """One kind of kernel: how its shape is written, and the layer it makes of it.

    Inputs are `n` x `c`, or images `h` x `w` x `c`, `inputs` of them alike, if `operands` does not
    say otherwise. `layer` raises
    InvalidDataError, in words for the user, for sizes that are none. Operands have `operand_bits`.
    """

    pattern: str
    example: str
    layer: Callable[[Sizes], Layer]
    parameters: Callable[[Sizes], tuple[Shape, ...]] = _none
    inputs: int = 1
    operand_bits: int = 8
    operands: Callable[[Sizes], tuple[Shape, ...]] | None = None


Kinds = dict[str, KernelKind]


def plain(layer: Layer, parameters: Callable[[Sizes], tuple[Shape, ...]] = _none) -> KernelKind:
    """Return the kind of a layer that takes an image of any size."""
    return KernelKind(IMAGE, "56x56x64", lambda sizes: layer, parameters)


def window(sizes: Sizes, *, padded: bool) -> Window:
    """Return the window of a shape, padded so that a stride of one keeps the size, or not."""
    high, wide, step = sizes["kh"], sizes["kw"], sizes.get("s", 1)
    top, left = ((high - 1) // 2, (wide - 1) // 2) if padded else (0, 0)
    return Window((high, wide), (step, step), (top, left, top, left))
