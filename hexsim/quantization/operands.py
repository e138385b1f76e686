"""Which constants are operands that become codes: float32 ones that a layer of ours reads.

An opaque operator runs on the CPU in floats, so what only such operators read stays as it is, bit
for bit: axes, zero points, tables, scalars, and the weights of operators that we have no layer for.
So it is with user-defined layers, which are given the real numbers of their constants.
A constant that a layer of ours reads as well is one array with one encoding, for all its readers.
"""

from __future__ import annotations

from hexsim.graph.ir import Network
from hexsim.layers import Opaque, UserDefined


def coded_operands(network: Network) -> tuple[str, ...]:
    """Names of the constants that are codes as operands, in the order in which they are read."""
    read = (
        name
        for layer in network.layers
        if not isinstance(layer, Opaque | UserDefined)
        for name in layer.inputs
        if name in network.constants and network.constants[name].dtype == "float32"
    )
    return tuple(dict.fromkeys(read))


def stays_as_it_is(name: str, network: Network) -> str:
    """Say why the constant `name` never becomes codes nor halves, or nothing if it may."""
    if name not in network.constants or name in network.weights or name in coded_operands(network):
        return ""
    dtype = network.constants[name].dtype
    if dtype != "float32":
        return f"it holds {dtype} numbers"
    reader = network.consumers[name][0]
    return f"layer '{reader.name}' ({reader.type}) computes with it as it is"
