"""Depth to space and back: runs of channels moved in flat memory.

If the position in the block precedes the channel ("DCR"), and in the other direction, all channels
of one row of a block are contiguous on both sides: one run. If the channel precedes it ("CRD"),
every byte moves by itself. See hexsim.hvx.streams.movement for the loops.
"""

from hexsim.hvx.kernels._model import Models
from hexsim.hvx.kernels._scattered import permuting
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_model, flat_steps
from hexsim.layers import DepthToSpace, SpaceToDepth
from hexsim.planning.plan import KernelCall


def _steps(call: KernelCall[DepthToSpace | SpaceToDepth], target: Target) -> list[FlatStep]:
    split, permutation = call.layer.view(call.operands[0])
    return flat_steps(call, target.machine, permuting(target.machine, split, permutation))


MODELS: Models = dict.fromkeys((DepthToSpace, SpaceToDepth), flat_model(_steps))
