"""FullyConnected: a convolution whose pixels are the items of the batch.

So weights are read once for several items. For a single item the time is that of reading the
weights, and the tiles of a convolution read them as fast as memory delivers them, although all rows
but one are idle.
"""

import math
from dataclasses import replace

from hexsim.int8.autotuner.algorithms import prepare_convolution
from hexsim.int8.prepared import PreparedCall
from hexsim.layers import Window
from hexsim.lowering.products import LoweredConvolution, LoweredFullyConnected


def prepare_fully_connected(call: LoweredFullyConnected) -> PreparedCall:
    """Prepare a fully connected layer as the convolution that it is."""
    (x,), (depth, outputs) = call.inputs, call.weights.codes.shape
    batch = math.prod(x.shape) // depth
    return prepare_convolution(
        LoweredConvolution(
            layer=call.layer,
            inputs=(replace(x, shape=(1, 1, batch, depth)),),
            output=replace(call.output, shape=(1, 1, batch, outputs)),
            weights=replace(call.weights, codes=call.weights.codes.reshape(1, 1, depth, outputs)),
            window=Window((1, 1)),
            groups=1,
            stage=call.stage,
        )
    )
