"""Convolution: dense, grouped or depthwise, each with its own model."""

from hexsim.hvx.kernels import convolution, depthwise_convolution, grouped_convolution
from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.layers import Convolution
from hexsim.planning.plan import KernelCall


def form(call: KernelCall[Convolution]) -> KernelModel:
    """Return the model of one convolution."""
    if call.layer.is_depthwise(call.operands[0][-1]):
        return depthwise_convolution.MODEL
    return grouped_convolution.MODEL if call.layer.groups > 1 else convolution.MODEL


MODELS: Models = {
    Convolution: KernelModel(
        lambda call, target: form(call).streams(call, target),
        lambda call, target, traffic: form(call).work(call, target, traffic),
        lambda call, target: form(call).weight_bytes(call, target),
        lambda call, target: form(call).packed_bytes(call, target),
        lambda call, target: form(call).vtcm_bytes(call, target),
        takes_16_bits=True,
    )
}
