"""Which HVX program judges a lowered call."""

import numpy as np

from hexsim.lowering.elementwise import LoweredProduct, LoweredSum
from hexsim.lowering.images import LoweredMaxPool
from hexsim.lowering.normalization import LoweredBatchNorm
from hexsim.lowering.products import LoweredConvolution, LoweredFullyConnected
from tests.oracle.int8 import elementwise, pooling, weighted

_JOBS = {
    LoweredConvolution: weighted.convolution,
    LoweredFullyConnected: weighted.fully_connected,
    LoweredBatchNorm: weighted.batch_norm,
    LoweredMaxPool: pooling.max_pool,
    LoweredSum: elementwise.weighted_sum,
    LoweredProduct: elementwise.product,
}


def job(call, inputs):
    """The job of a lowered call on the codes of its operands."""
    return _JOBS[type(call)](call, [np.asarray(x, np.uint8) for x in inputs])
