"""The range of an integer input whose values are positions, for example in a table.

The integers may pass through nodes that move or cast them. The number of positions is known from
the node that takes the elements at these positions.

Not supported: positions that are computed from an input, such as a sum with a start, and loops.
"""

from collections.abc import Callable, Mapping

import onnx

from hexsim.graph.ir import Layer, Network, Shape
from hexsim.graph.whole_numbers import WHOLE_TYPES
from hexsim.layers import Opaque

_Rule = Callable[[Shape, Shape, int], int]
"""Number of positions from the shapes of data and positions, and the attribute `axis`."""


def _along_axis(data: Shape, positions: Shape, axis: int) -> int:
    return data[axis] if -len(data) <= axis < len(data) else 1


def _tuples(data: Shape, positions: Shape, axis: int) -> int:
    """Return the shortest of the axes that a row of positions indexes."""
    return min(data[: positions[-1]] if positions else data, default=1)


_CHOOSERS: Mapping[str, _Rule] = {
    **dict.fromkeys(("Gather", "GatherElements", "ScatterElements"), _along_axis),
    **dict.fromkeys(("GatherND", "ScatterND"), _tuples),
}
"""Operators whose second operand holds positions in the first."""

_MOVERS = frozenset(
    (
        *("Cast", "Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split"),
        *("Squeeze", "Tile", "Transpose", "Unsqueeze"),
    )
)
"""Operators whose outputs hold elements of their first operand, or of all (Concat)."""


def positions(network: Network, name: str) -> int | None:
    """Return the number of positions that the integers `name` choose from.

    None if no node uses them as positions.
    """
    counts: list[int] = []
    waiting, visited = [name], {name}
    while waiting:
        current = waiting.pop()
        for layer in network.consumers.get(current, ()):
            counts += _choices(network, layer, current)
            targets = layer.outputs if _moves(layer, current) else ()
            new_names = [n for n in targets if n not in visited]
            new_names = [n for n in new_names if network.tensors[n].dtype in WHOLE_TYPES]
            waiting += new_names
            visited.update(new_names)
    return min(counts, default=None)


def _choices(network: Network, layer: Layer, name: str) -> list[int]:
    if not isinstance(layer, Opaque) or len(layer.inputs) < 2 or layer.inputs[1] != name:
        return []
    rule = _CHOOSERS.get(layer.op_type)
    if rule is None:
        return []
    node = onnx.NodeProto.FromString(layer.node)
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
    return [rule(network.shape(layer.inputs[0]), network.shape(name), axis)]


def _moves(layer: Layer, name: str) -> bool:
    if isinstance(layer, Opaque):
        is_first = layer.inputs[:1] == (name,)
        return layer.op_type in _MOVERS and (is_first or layer.op_type == "Concat")
    return layer.moves_codes
