"""Batches: a tensor of any rank as a batch of images, and the items of one inference."""

import math

from hexsim.graph.ir import Network


def as_nhwc(shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Return (batch, height, width, channels): leading axes filled in with ones, or joined.

    A vector is all channels, a scalar one channel.
    """
    *outer, height, width, channels = (1, 1, 1, *shape)
    return math.prod(outer), height, width, channels


def batch_size(network: Network) -> int:
    """Return the number of items in one inference: N if the first axis is a batch of N, else 1.

    The first axis is a batch if every input, of two axes or more, and every output has it first, in
    the file and as stored, with the same size; outputs sized by values do not count. If all are
    sized by values, inputs need four axes: detectors take a picture as [3, height, width]. Where
    the first axis of an input is not the first one of the output, the whole input is one item; so
    it is where the axis is empty.
    """
    inputs = [network.tensors[name] for name in network.inputs]
    outputs = [t for t in map(network.tensors.__getitem__, network.outputs) if not t.varies]
    sizes = {t.shape[0] if t.order[:1] == (0,) else 1 for t in (*inputs, *outputs)}
    fewest = 2 if outputs else 4
    return (
        (sizes.pop() or 1) if len(sizes) == 1 and all(len(t.shape) >= fewest for t in inputs) else 1
    )
