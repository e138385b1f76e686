"""Batch norm that is not folded into a convolution: a multiply-add per vector, two threads.

Source: Hexagon NN, op_batchnorm_d32.c, in C; it computes the padding on the left of each row.
"""

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._per_vector import per_vector_model
from hexsim.hvx.streams import elementwise
from hexsim.layers import BatchNorm

_THREADS = 2

MODELS: Models = {
    BatchNorm: per_vector_model(
        lambda _, target: elementwise.batch_norm(target.machine), lambda call, target: _THREADS
    )
}
