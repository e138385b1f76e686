"""Depth to space and back: runs of channels moved in flat memory.

With the place in the block before the channel ("DCR"), and on the way back, all channels of one row
of a block lie together on both sides: one run. With the channel first ("CRD") every byte goes its
own way. See hexsim.hvx.streams.movement for the loops.
"""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._scattered import permuting
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_steps, flat_work
from hexsim.hvx.streams import Kernel
from hexsim.layers import DepthToSpace, SpaceToDepth
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """What the steps run."""
    return tuple(kernel for _, kernel in _steps(call, target))


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """One stage per step."""
    return flat_work(_steps(call, target), target, traffic)


def _steps(call: KernelCall, target: Target) -> list[FlatStep]:
    layer = call.layer
    assert isinstance(layer, DepthToSpace | SpaceToDepth)
    split, permutation = layer.view(call.operands[0])
    return flat_steps(call, target.machine, permuting(target.machine, split, permutation))


MODELS: Models = dict.fromkeys((DepthToSpace, SpaceToDepth), KernelModel(streams, work))
