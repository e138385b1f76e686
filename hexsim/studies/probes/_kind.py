"""The kinds of kernels that `hexsim kernel` runs by name, which the other files define."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hexsim.graph.ir import Layer, Shape
from hexsim.layers import Window

IMAGE = r"(?P<h>\d+)x(?P<w>\d+)x(?P<c>\d+)"
WINDOW = r":(?P<kh>\d+)x(?P<kw>\d+)(:s(?P<s>\d+))?"
Made = TypeVar("Made", bound=Layer)
Sizes = Mapping[str, int]
"""Sizes by the group names of a pattern."""


def _none(sizes: Sizes) -> tuple[Shape, ...]:
    return ()


@dataclass(frozen=True)
class KernelKind:
    """One kind of kernel: the pattern of its shape, and the layer for these sizes.

    Inputs are `n` x `c`, or images `h` x `w` x `c`, `inputs` of the same shape, unless `operands`
    gives other shapes. `layer` raises InvalidDataError, in words for the user, for sizes that are
    not possible. Operands have `operand_bits`.
    """

    pattern: str
    example: str
    layer: Callable[[Sizes], Layer]
    parameters: Callable[[Sizes], tuple[Shape, ...]] = _none
    inputs: int = 1
    operand_bits: int = 8
    operands: Callable[[Sizes], tuple[Shape, ...]] | None = None


Kinds = dict[str, KernelKind]


def unary(of: type[Made], name: str, **attributes: Any) -> Made:
    """Return the layer of a type with the input `in` and the output `out`."""
    return of(name=name, inputs=("in",), outputs=("out",), **attributes)


def plain(layer: Layer, parameters: Callable[[Sizes], tuple[Shape, ...]] = _none) -> KernelKind:
    """Return the kind of a layer that takes an image of any size."""
    return KernelKind(IMAGE, "56x56x64", lambda sizes: layer, parameters)


def window(sizes: Sizes, *, padded: bool) -> Window:
    """Return the window of a shape, padded so that a stride of one keeps the size, or not."""
    high, wide, step = sizes["kh"], sizes["kw"], sizes.get("s", 1)
    top_pad, left_pad = ((high - 1) // 2, (wide - 1) // 2) if padded else (0, 0)
    return Window((high, wide), (step, step), (top_pad, left_pad, top_pad, left_pad))
