"""How many items (pictures, rows) one inference of a network takes."""

from __future__ import annotations

from hexsim.graph.ir import Network


def batch_size(network: Network) -> int:
    """Items that one inference takes: N if its first axis is a batch of N, else 1.

    It is one if every input, of two axes or more, and every output has it as first axis, in the
    file and as stored, with the same size; outputs that values size do not count. Where time, or a
    pair of channels, comes first and does not come out first, all of an input is one item.
    """
    inputs = [network.tensors[name] for name in network.inputs]
    outputs = [t for t in map(network.tensors.__getitem__, network.outputs) if not t.varies]
    sizes = {t.shape[0] if t.order[:1] == (0,) else 1 for t in (*inputs, *outputs)}
    return sizes.pop() if len(sizes) == 1 and all(len(t.shape) > 1 for t in inputs) else 1
