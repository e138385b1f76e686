"""Codes that nodes only move between a QuantizeLinear and a DequantizeLinear.

A Reshape of codes is a Reshape of floats. So tensors of integers that such nodes link are floats,
if all that is written into them are codes of one kind, and all that is read is dequantised as such.
"""

from __future__ import annotations

from hexsim.onnx_io.importer import Importer
from hexsim.onnx_io.node import Node
from hexsim.onnx_io.node_codes import (
    DEQUANTIZE,
    QUANTIZE,
    NodeCodes,
    integer_type,
    is_linear,
    linear_codes,
)

_MOVERS = (
    *("DepthToSpace", "Expand", "Flatten", "Gather", "GatherND", "Identity", "MaxPool"),
    *("Reshape", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
)
"""Operators whose output holds elements of their first input."""


def moved_region(start: str, codes: NodeCodes, dtype: str, net: Importer) -> set[str]:
    """Names of all integers that movers link with `start`; none if some are more than moved."""
    region, open_names = {start}, [start]
    while open_names:
        name = open_names.pop()
        readers = net.readers.get(name, [])
        if not readers or len(readers) != net.uses[name] or name not in net.writers:
            return set()
        for node in (net.writers[name], *readers):
            linked = _linked(node, name, codes, dtype, net)
            if linked is None:
                return set()
            open_names += linked - region
            region |= linked
    return region


def _linked(node: Node, name: str, codes: NodeCodes, dtype: str, net: Importer) -> set[str] | None:
    """Names that `node` links with `name`; None if it does more than move codes, or make them."""
    makes = is_linear(node, QUANTIZE) and node.output == name
    if makes or (is_linear(node, DEQUANTIZE) and node.inputs[0] == name):
        kind = integer_type(node, net.known) if makes else dtype
        return set() if linear_codes(node, net.known, kind, None) == codes else None
    if node.op_type not in (*_MOVERS, "Concat"):
        return None
    data = node.inputs if node.op_type == "Concat" else node.inputs[:1]
    if name in node.inputs[len(data) :]:
        return None
    return {*data, *filter(None, node.outputs)}
