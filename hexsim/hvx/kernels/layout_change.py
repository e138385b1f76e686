"""Reshape, permute and channel shuffle: out of d32, moved, and back into d32.

A reshape between tensors without spatial axes is a copy. Inside the flat form a reshape moves
nothing more; a permute gathers elements and a shuffle interleaves channels: for both a table
lookup per vector stands in, so their cost is generic.
Source: Hexagon NN, vmemcpy_2d_h.S.
"""

from __future__ import annotations

from hexsim.hvx.kernels._model import KernelModel, Models
from hexsim.hvx.kernels._target import Target
from hexsim.hvx.kernels._through_flat import FlatStep, flat_steps, flat_work
from hexsim.hvx.streams import Kernel, elementwise
from hexsim.layers import ChannelShuffle, Permute, Reshape
from hexsim.planning.plan import KernelCall
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork


def streams(call: KernelCall, target: Target) -> tuple[Kernel, ...]:
    """What the steps run."""
    return tuple(kernel for _, kernel in _steps(call, target))


def _steps(call: KernelCall, target: Target) -> list[FlatStep]:
    """Shape and loop of each step."""
    machine = target.machine
    move = None if isinstance(call.layer, Reshape) else elementwise.table(machine)
    return flat_steps(call, machine, move) or [(call.results[0], elementwise.copy(machine))]


def work(call: KernelCall, target: Target, traffic: Traffic) -> NodeWork:
    """One stage per conversion, and one for the move itself if it is not a reshape."""
    is_reshape = isinstance(call.layer, Reshape)
    steps = _steps(call, target)
    return flat_work(steps, target, traffic, "kernel" if is_reshape else "generic")


MODELS: Models = dict.fromkeys((ChannelShuffle, Permute, Reshape), KernelModel(streams, work))
