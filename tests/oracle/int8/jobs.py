"""Which HVX program judges a bound call."""

import numpy as np

from hexsim.binding.batch_norm import BoundBatchNorm
from hexsim.binding.concat import BoundConcat
from hexsim.binding.convolution import BoundConvolution
from hexsim.binding.elementwise import BoundProduct, BoundSum
from hexsim.binding.fully_connected import BoundFullyConnected
from hexsim.binding.pooling import BoundAveragePool, BoundMaxPool
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
