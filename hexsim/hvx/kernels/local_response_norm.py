"""Local response normalisation: an expensive loop, on one thread per batch item.

Source: Hexagon NN, lrn_d32_hvx.S, op_lrn_d32.c (line 242).
"""

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._per_vector import per_vector_model
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.streams import Kernel
from hexsim.hvx.streams.local_response_norm import vector
from hexsim.layers import LocalResponseNorm
from hexsim.planning.plan import KernelCall


def _loop(call: KernelCall[LocalResponseNorm], target: Target) -> Kernel:
    """Return the loop of one vector with its neighbours, limited by the channels."""
    radius = min(call.layer.size // 2, call.results[0][-1] - 1)
    return vector(target.machine, max(radius, 0))


MODELS: Models = {LocalResponseNorm: per_vector_model(_loop, lambda call, _: call.results[0][0])}
