"""Selects the constants that are quantised as operands: float32 ones that a known layer reads.

An opaque operator runs on the CPU in floats, so constants that only such operators read are not
changed: axes, zero points, tables, scalars, and the weights of operators without a layer here.
The same holds for user-defined layers, which get the real numbers of their constants.
If a known layer reads such a constant too, all its readers use one array with one encoding.
"""

from hexsim.graph.ir import Network
from hexsim.layers import Opaque, UserDefined


def coded_operands(network: Network) -> tuple[str, ...]:
    """Return the names of constants that are quantised as operands, in the order of reading."""
    read = (
        name
        for layer in network.layers
        if not isinstance(layer, Opaque | UserDefined)
        for name in layer.inputs
        if name in network.constants and network.constants[name].dtype == "float32"
    )
    return tuple(dict.fromkeys(read))


def stays_as_it_is(name: str, network: Network) -> str:
    """Return why the constant `name` is never quantised nor float16, or an empty string."""
    if name not in network.constants or name in network.weights or name in coded_operands(network):
        return ""
    dtype = network.constants[name].dtype
    if dtype != "float32":
        return f"it holds {dtype} numbers"
    reader = network.consumers[name][0]
    return f"layer '{reader.name}' ({reader.type}) computes with it as it is"
