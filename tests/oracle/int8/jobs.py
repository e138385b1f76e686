"""Which HVX program judges a bound call."""

import numpy as np

from hexsim import binding
from tests.oracle.int8 import elementwise, pooling, weighted

_JOBS = {
    binding.BoundConvolution: weighted.convolution,
    binding.BoundFullyConnected: weighted.fully_connected,
    binding.BoundBatchNorm: weighted.batch_norm,
    binding.BoundMaxPool: pooling.max_pool,
    binding.BoundAveragePool: pooling.average_pool,
    binding.BoundSum: elementwise.weighted_sum,
    binding.BoundProduct: elementwise.product,
    binding.BoundConcat: elementwise.concat,
}


def job(call, inputs):
    """The job of a bound call on the codes of its operands."""
    return _JOBS[type(call)](call, [np.asarray(x, np.uint8) for x in inputs])
