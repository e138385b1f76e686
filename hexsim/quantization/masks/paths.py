"""Which tensors and constants only reach softmaxes, through additions alone.

A softmax gives the same for every number that is small enough beside the largest of its row. So of
what only reaches softmaxes, and only through layers that add, choose or move numbers, it makes no
difference how small the small ones are. Where it is subtracted on the way, the same holds for the
large ones. The other direction is free of this: of two large numbers the larger one decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import ArgExtremum, Concat, Elementwise, Neuron, Opaque, Softmax

_MOVING = frozenset(
    {"Expand", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
)
"""Operators of opaque layers that only move the numbers of their first input."""


def signs_of_operands(layer: Layer) -> Sequence[tuple[str, int]] | None:
    """The operands that a layer adds (1), subtracts (-1), chooses from or moves (1).

    None for any other layer.
    """
    match layer:
        case Elementwise(kind="sub"):
            first, *others = layer.inputs
            return [(first, 1), *((name, -1) for name in others)]
        case Elementwise(kind="sum" | "max" | "min") | Concat() | Neuron(function="clamp"):
            return [(name, 1) for name in layer.inputs]
        case Neuron(function="neg"):
            return [(layer.inputs[0], -1)]
        case Opaque(op_type="Where"):
            return [(name, 1) for name in layer.inputs[1:]]
        case Opaque():
            return [(layer.inputs[0], 1)] if layer.op_type in _MOVING else None
        case _:
            return [(name, 1) for name in layer.inputs] if layer.moves_codes else None


def sign_at_end(layer: Layer) -> int:
    """1 for a layer to which all small numbers are alike, -1 if all large ones are, else 0."""
    match layer:
        case Softmax() | ArgExtremum(kind="max"):
            return 1
        case ArgExtremum(kind="min"):
            return -1
        case _:
            return 0


@dataclass(frozen=True)
class Paths:
    """What only reaches softmaxes through additions.

    `signs` is, by name, 1 for what is added to them and -1 for what is subtracted. `factors` has
    the products that do so with a large constant of one number, by the name of the product.
    """

    signs: Mapping[str, int]
    factors: Mapping[str, str]


def paths(network: Network, is_large: Callable[[Constant], bool]) -> Paths:
    """Follow the layers backwards; `is_large` says which constants of one number are looked at.

    A constant that is a factor as well as an addend is followed as the latter.
    """
    uses: dict[str, set[int]] = {name: {0} for name in network.outputs}
    known: dict[str, int] = {}
    factors: dict[str, str] = {}

    def sign_of(name: str) -> int:
        if name not in known:
            signs = uses.get(name, {0})
            known[name] = next(iter(signs)) if len(signs) == 1 else 0
        return known[name]

    for layer in reversed(network.layers):
        signs = dict.fromkeys(layer.inputs, 0) | _signs_of_uses(layer, sign_of)
        for name in _factors(layer):
            constant = network.constants.get(name)
            if constant is not None and is_large(constant) and sign_of(layer.output):
                factors[layer.output] = name
                del signs[name]
        for name, sign in signs.items():
            uses.setdefault(name, set()).add(sign)
    return Paths(
        {name: sign for name in uses if (sign := sign_of(name))},
        {name: factor for name, factor in factors.items() if factor not in uses or sign_of(factor)},
    )


def _factors(layer: Layer) -> tuple[str, ...]:
    """The operands of a product of two."""
    is_product = isinstance(layer, Elementwise) and layer.kind == "product"
    return layer.inputs if is_product and len(set(layer.inputs)) == 2 else ()


def _signs_of_uses(layer: Layer, sign_of: Callable[[str], int]) -> dict[str, int]:
    """The signs with which a layer passes its operands on to softmaxes; nothing of others."""
    if end := sign_at_end(layer):
        return {layer.inputs[0]: end}
    passed = signs_of_operands(layer)
    if not passed or len(layer.outputs) != 1 or len(dict(passed)) < len(passed):
        return {}
    return {name: sign * sign_of(layer.output) for name, sign in passed}
