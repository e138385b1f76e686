"""Which HVX program judges a bound call."""

import numpy as np

from hexsim.lowering.batch_norm import BoundBatchNorm
from hexsim.lowering.concat import BoundConcat
from hexsim.lowering.convolution import BoundConvolution
from hexsim.lowering.elementwise import BoundProduct, BoundSum
from hexsim.lowering.fully_connected import BoundFullyConnected
from hexsim.lowering.pooling import BoundAveragePool, BoundMaxPool
from tests.oracle.int8 import elementwise, pooling, weighted

_JOBS = {
    BoundConvolution: weighted.convolution,
    BoundFullyConnected: weighted.fully_connected,
    BoundBatchNorm: weighted.batch_norm,
    BoundMaxPool: pooling.max_pool,
    BoundAveragePool: pooling.average_pool,
    BoundSum: elementwise.weighted_sum,
    BoundProduct: elementwise.product,
    BoundConcat: elementwise.concat,
}


def job(call, inputs):
    """The job of a bound call on the codes of its operands."""
    return _JOBS[type(call)](call, [np.asarray(x, np.uint8) for x in inputs])
