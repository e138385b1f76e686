"""What each kernel costs on a machine, by shape class: the numbers that blocking multiplies out.

`fw` is the filter width and `depth_rows` filter height times sheets of input channels: the (filter
row, sheet) pairs a tile walks through.
"""

from __future__ import annotations

from dataclasses import replace

from hexsim.hvx.isa import Machine
from hexsim.hvx.streams import (
    convolution,
    depthwise,
    elementwise,
    first_layer,
    fully_connected,
    layout_change,
    pooling,
)
from hexsim.hvx.streams._kernel import LoopCost


def conv_v60(machine: Machine, fw: int, depth_rows: int) -> LoopCost:
    """Four pixels of one slice."""
    return convolution.v60(machine, fw, depth_rows).cost


def conv_v65(
    machine: Machine, fw: int, depth_rows: int, slices: int = 2, pixels: int = 8
) -> LoopCost:
    """Eight or six pixels of one or two slices."""
    return convolution.v65(machine, fw, depth_rows, slices, pixels).cost


def conv_v66(machine: Machine, fw: int, depth_rows: int) -> LoopCost:
    """Four pixels of one slice."""
    return convolution.v66(machine, fw, depth_rows).cost


def conv_input(machine: Machine, kernel: tuple[int, int], stride: int) -> LoopCost:
    """Four pixels of one slice of the first layer."""
    return first_layer.convolution(machine, *kernel, stride).cost


def depthwise_rows(machine: Machine, kernel: tuple[int, int], stride: int) -> LoopCost | None:
    """Four pixels of one sheet; None where only the reference kernel fits."""
    height, width = kernel
    if stride not in (1, 2) or width not in (3, 5, 7):
        return None
    if kernel == (3, 3):
        return depthwise.three_by_three(machine, stride).cost
    return depthwise.by_rows(machine, height, width, stride).cost


def fully_connected_outputs(machine: Machine, inputs: int, batch: int) -> LoopCost:
    """32 outputs of the whole batch, two of the batch at a time."""
    pairs, odd = divmod(batch, 2)
    two = fully_connected.outputs(machine, inputs, 2).cost
    one = fully_connected.outputs(machine, inputs, 1).cost
    if batch == 1:
        return one
    return replace(
        two,
        tile=two.tile * pairs + one.tile * odd,
        stalls=two.stalls * pairs + one.stalls * odd,
        macs=two.macs * pairs + one.macs * odd,
        l2_vectors=two.l2_vectors * pairs + one.l2_vectors * odd,
    )


def max_pool(machine: Machine, kernel: tuple[int, int], strides: tuple[int, int]) -> LoopCost:
    """Two rows of four pixels for 3x3, else four pixels."""
    special = {
        ((3, 3), (2, 2)): pooling.max_3x3_s2,
        ((3, 3), (1, 1)): pooling.max_3x3_s1,
        ((2, 2), (2, 2)): pooling.max_2x2_s2,
    }.get((kernel, strides))
    if special is not None:
        return special(machine).cost
    return pooling.max_any(machine, kernel[0] * kernel[1]).cost


def average_pool(machine: Machine, kernel: tuple[int, int], strides: tuple[int, int]) -> LoopCost:
    """Two rows of four pixels for 3x3 stride 1, else four pixels."""
    if (kernel, strides) == ((3, 3), (1, 1)):
        return pooling.average_3x3_s1(machine).cost
    return pooling.average_any(machine, kernel[0] * kernel[1]).cost


def weights_to_vtcm(machine: Machine) -> LoopCost:
    """One vector of weights."""
    return replace(elementwise.copy(machine).cost, l2_vectors=1, vtcm_vectors=1)


def circular_buffer(machine: Machine) -> LoopCost:
    """One vector of an input row, for the V65 convolution."""
    return layout_change.pixel_pairs(machine).cost
