"""Reshape, permute and channel shuffle: moves in flat memory, with conversions from and to d32.

A reshape between tensors without spatial axes is a copy; in flat memory a reshape moves nothing.
A permute moves runs of bytes, passes vectors through networks, or transposes blocks of
bytes, whichever is cheapest (`hexsim.hvx.kernels._scattered`). A shuffle permutes groups.
Source of the copy: Hexagon NN, vmemcpy_2d_h.S.
"""

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._scattered import permuting
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_model, flat_steps
from hexsim.hvx.streams import elementwise
from hexsim.layers import ChannelShuffle, Permute, Reshape
from hexsim.planning.plan import KernelCall


def _steps(call: KernelCall, target: Target) -> list[FlatStep]:
    """Return shape and loop of each step."""
    layer, source, machine = call.layer, call.operands[0], target.machine
    move = None
    if isinstance(layer, Permute):
        move = permuting(machine, source, layer.permutation)
    elif isinstance(layer, ChannelShuffle):
        last = len(source) - 1
        split = (*source[:-1], layer.groups, source[-1] // layer.groups)
        move = permuting(machine, split, (*range(last), last + 1, last))
    return flat_steps(call, machine, move) or [(call.results[0], elementwise.copy(machine))]


MODELS: Models = dict.fromkeys((ChannelShuffle, Permute, Reshape), flat_model(_steps))
