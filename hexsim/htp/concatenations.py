"""Which operands of a concatenation are requantised: those that cannot have its encoding.

Codes of a concatenation have one encoding. A layer that computes can write its result in that
encoding at once, if nothing else reads the result. A tensor with several consumers keeps its own,
and layers that only move codes (slices, maximum pooling) keep that of their operand. This looks at
the structure alone, as graphs without encodings are planned too; operands whose encodings happen
to be equal are taken as different.
"""

from hexsim.graph.ir import Network
from hexsim.layers import Concat


def requantised(layer: Concat, network: Network) -> tuple[str, ...]:
    """Return the operands of `layer`, constants left out, that keep an encoding of their own."""
    return tuple(
        name
        for name in layer.inputs
        if name not in network.constants and not _takes_encoding(name, network)
    )


def _takes_encoding(name: str, network: Network) -> bool:
    """Tell whether the layer that computes a tensor can write it in its consumer's encoding."""
    while len(network.consumers[name]) == 1:
        writer = network.producers.get(name)
        if writer is None:
            return False
        if not writer.moves_codes:
            return True
        name = writer.inputs[0]
    return False
