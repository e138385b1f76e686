"""Normalization: sums of codes and squares, integer reciprocal root, one requantise stage."""

import math
from typing import NamedTuple

import numpy as np

from hexsim.graph.ir import Shape
from hexsim.int8.machine_code.jit import inlined, template
from hexsim.int8.machine_code.record import record
from hexsim.int8.pointwise.strided_copy import rows_along
from hexsim.int8.requantize import OneStage16, one_stage_16bit, requantize_16bit
from hexsim.int8.step import FIRST, LAST, Inputs, Out, Preparers, Step, Steps, Workspace, unpacked
from hexsim.lowering.lowered_call import Codes, Int64
from hexsim.lowering.normalization import NORMAL_BITS, ROOT_BITS, LoweredNormalization

_LEAST = 1 << 2 * ROOT_BITS - 2
"""The least number to which a number is scaled before its root is taken."""


@record("int64,int64,int64,int64")
class Form(NamedTuple):
    """Zero point, epsilon, n (1 for a length), whether the mean is subtracted."""

    zero_point: int
    epsilon: int
    number: int
    centred: int


@record("int64[::1],int64[::1],int64[::1],int64[::1]")
class Affine(NamedTuple):
    """Factors and preloads; an element's index is the sum of a number by row and one by column."""

    factors: Int64
    preloads: Int64
    by_row: Int64
    by_column: Int64


@unpacked
def normalized(
    call: LoweredNormalization, inputs: Inputs, output: Out, workspace: Workspace
) -> Steps:
    """Rows of the elements that share a statistic."""
    x, rows, before, after = rows_along(call.axes, inputs[0], output, workspace)
    shared = tuple(sorted(call.axes))
    separate = tuple(axis for axis in range(output.ndim) if axis not in shared)
    count = 1 if call.kind == "length" else rows.shape[1]
    form = Form(call.inputs[0].zero_point, call.epsilon, count, int(call.kind == "deviation"))
    indices = np.broadcast_to(np.arange(call.factors.size).reshape(call.spread), output.shape)
    affine = Affine(
        call.factors.astype(np.int64),
        call.stage.preload.astype(np.int64),
        _along(indices, separate, output.shape),
        _along(indices, shared, output.shape),
    )
    arguments = (x, form, affine, one_stage_16bit(call.stage), rows, FIRST, LAST)
    return [*before, Step(_normalize(output.dtype), arguments, len(rows)), *after]


def _along(indices: Int64, axes: tuple[int, ...], shape: Shape) -> Int64:
    """Return what the indices along `axes` add to the first one."""
    index = tuple(slice(None) if axis in axes else 0 for axis in range(len(shape)))
    return np.ascontiguousarray(indices[index], np.int64).reshape(-1)


@inlined
def _reciprocal_root(number: int) -> tuple[np.int64, np.int64]:
    """Return r and s of hexsim.lowering.normalization, for a number above zero."""
    even = np.int64(0)
    while number << even < np.int64(_LEAST):
        even += np.int64(2)
    scaled = number << even
    root = np.int64(math.sqrt(scaled))  # a float, which may be beside the integer root
    while root * root > scaled:
        root -= 1
    while (root + 1) * (root + 1) <= scaled:
        root += 1
    reciprocal = (np.int64(1) << np.int64(2 * ROOT_BITS - 1)) // root
    return reciprocal, np.int64(2 * ROOT_BITS - 1 - NORMAL_BITS) - even // 2


@template("void({0}[:,::1],Form,Affine,OneStage16,{0}[:,::1],int64,int64)")
def _normalize(
    x: Codes, form: Form, affine: Affine, stage: OneStage16, out: Codes, first: int, last: int
) -> None:
    for row in range(first, last):
        total = np.int64(0)
        squares = np.int64(0)
        for k in range(x.shape[1]):
            distance = np.int64(x[row, k]) - form.zero_point
            total += distance
            squares += distance * distance
        mean = total if form.centred else np.int64(0)
        width = form.number * squares - mean * mean + form.epsilon
        reciprocal, shift = np.int64(0), np.int64(1)
        if width > 0:
            reciprocal, shift = _reciprocal_root(width)
        half = np.int64(1) << (shift - 1)
        place = affine.by_row[row]
        for k in range(x.shape[1]):
            distance = form.number * (np.int64(x[row, k]) - form.zero_point) - mean
            normal = (distance * reciprocal + half) >> shift
            at = place + affine.by_column[k]
            out[row, k] = requantize_16bit(
                affine.preloads[at] + affine.factors[at] * normal,
                stage.multiplier, stage.shift, stage.fraction_bits, stage.low, stage.high,
            )  # fmt: skip


PREPARERS: Preparers = {LoweredNormalization: normalized}
PREPARERS_16BIT: Preparers = {LoweredNormalization: normalized}
