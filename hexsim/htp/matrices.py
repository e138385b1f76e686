"""Which tensors without four axes are tiles of HMX, and which are images of one row.

The compiler gives every tensor four axes (layouts of QNN). One that has fewer becomes an image of
one row, of which a crouton fills eight; so seven eighths of what HVX computes are empty.
Products of matrices would waste as much of HMX; around them the rows of a matrix take the places
of the pixels. A layout spreads: tensors that layers connect have the same one, as long as they
have other than four axes (inferred: detections after a convolutional network are slow, and
networks of matrices are not).
"""

from hexsim.graph.ir import Network
from hexsim.layers import FullyConnected, MatMul


def in_tiles(network: Network) -> frozenset[str]:
    """Return the tensors without four axes that are connected with a product of matrices."""
    reached: set[str] = set()
    waiting = [
        name
        for layer in network.layers
        if isinstance(layer, FullyConnected | MatMul)
        for name in (*layer.inputs, *layer.outputs)
    ]
    while waiting:
        name = waiting.pop()
        tensor = network.tensors.get(name)
        if tensor is None or name in reached or len(tensor.shape) == 4:
            continue
        reached.add(name)
        beside = list(network.consumers.get(name, ()))
        if name in network.producers:
            beside.append(network.producers[name])
        for layer in beside:
            waiting += (*layer.inputs, *layer.outputs)
    return frozenset(reached)
