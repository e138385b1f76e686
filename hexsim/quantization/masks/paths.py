"""Finds the tensors and constants that only reach softmaxes, through additions alone.

A softmax gives the same for every number that is low enough beside the largest of its row. So if
a tensor only reaches softmaxes, through layers that add, select or move numbers, the values of its
low numbers do not matter. If it is subtracted on the way, the same holds for its large numbers.
The values of large numbers that are added do matter, as the largest of a row decides.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import ArgExtremum, Concat, Elementwise, Neuron, Opaque, Softmax

_MOVING = frozenset(
    {"Expand", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
)
"""Operators of opaque layers that only move the numbers of their first input."""


def signs_of_operands(layer: Layer) -> Sequence[tuple[str, int]] | None:
    """Return the operands that a layer adds, selects from or moves (1) or subtracts (-1).

    The result is None for any other layer.
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
    """Return 1 for a layer that ignores the values of low numbers, -1 of large ones, else 0."""
    match layer:
        case Softmax() | ArgExtremum(kind="max"):
            return 1
        case ArgExtremum(kind="min"):
            return -1
        case _:
            return 0


@dataclass(frozen=True)
class MaskPaths:
    """Tensors and constants that only reach softmaxes through additions.

    `signs` maps their names to 1 if they are added and to -1 if they are subtracted. `factors` maps
    products of such tensors with a large constant of one number to the name of that constant.
    """

    signs: Mapping[str, int]
    factors: Mapping[str, str]


def paths(network: Network, is_large: Callable[[Constant], bool]) -> MaskPaths:
    """Follow the layers backwards; `is_large` selects constants that may be factors of masks.

    A constant that is a factor as well as an addend is treated as an addend.
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
    return MaskPaths(
        {name: sign for name in uses if (sign := sign_of(name))},
        {name: factor for name, factor in factors.items() if factor not in uses or sign_of(factor)},
    )


def _factors(layer: Layer) -> tuple[str, ...]:
    """Return the operands of a product of two tensors, or nothing for other layers."""
    is_product = isinstance(layer, Elementwise) and layer.kind == "product"
    return layer.inputs if is_product and len(set(layer.inputs)) == 2 else ()


def _signs_of_uses(layer: Layer, sign_of: Callable[[str], int]) -> dict[str, int]:
    """Return the signs with which the operands of a layer reach softmaxes, if they do."""
    if end := sign_at_end(layer):
        return {layer.inputs[0]: end}
    passed = signs_of_operands(layer)
    if not passed or len(layer.outputs) != 1 or len(dict(passed)) < len(passed):
        return {}
    return {name: sign * sign_of(layer.output) for name, sign in passed}
