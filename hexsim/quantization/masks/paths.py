"""Which tensors and constants only reach softmaxes, through additions alone.

A softmax gives the same for every number that is small enough beside the largest of its row. So of
what only reaches softmaxes, and only through layers that add, choose or move numbers, it makes no
difference how small the small ones are. Where it is subtracted on the way, the same holds for the
large ones. The other direction is free of this: of two large numbers the larger one decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hexsim.graph.ir import Layer, Network
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


def directions(network: Network) -> Mapping[str, int]:
    """By name, 1 for what is added to softmaxes and reaches nothing else, -1 if subtracted."""
    uses: dict[str, set[int]] = {name: {0} for name in network.outputs}
    known: dict[str, int] = {}

    def settle(name: str) -> int:
        if name not in known:
            signs = uses.get(name, {0})
            known[name] = next(iter(signs)) if len(signs) == 1 else 0
        return known[name]

    for layer in reversed(network.layers):
        passed = signs_of_operands(layer)
        sign = settle(layer.output) if passed and len(layer.outputs) == 1 else 0
        if sign_at_end(layer):
            passed, sign = [(layer.inputs[0], sign_at_end(layer))], 1
        through = dict(passed or ()) if sign else {}
        alike = len(through) == len(passed or ())
        for name in layer.inputs:
            uses.setdefault(name, set()).add(through.get(name, 0) * sign if alike else 0)
    return {name: sign for name in uses if (sign := settle(name))}
