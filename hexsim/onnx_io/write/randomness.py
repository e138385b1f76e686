"""Operators that draw random numbers, so that each run has another result."""

from collections.abc import Iterable

import onnx

from hexsim.layers import Opaque
from hexsim.onnx_io.file.node import subgraphs
from hexsim.onnx_io.write.emitters.opaque import nodes_of

RANDOM = frozenset(
    {
        "Bernoulli",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    }
)
_SOMETIMES = frozenset({"Dropout"})
"""Operators that draw only in training."""


def draws(layer: Opaque) -> bool:
    """True if a node of the layer, or of a subgraph of one, may draw random numbers."""
    return _any_draws(nodes_of(layer))


def _any_draws(nodes: Iterable[onnx.NodeProto]) -> bool:
    return any(
        node.op_type in RANDOM | _SOMETIMES
        or any(_any_draws(graph.node) for graph in subgraphs(node))
        for node in nodes
    )
