"""Deconvolution: one convolution computes all phases of the output, which are then interleaved.

The taps that a phase reads are a convolution kernel of their own, in reverse order; those of all
phases, filled up to one size with weights of real zero, are one kernel with as many times the
output channels. So every convolution kernel is a deconvolution kernel, and the sums are the same.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.jit import template
from hexsim.int8.step import ROWS, Buffers, Out, PreparedCall, Step, Work
from hexsim.lowering import LoweredCall, Weights
from hexsim.lowering.lowered_call import Codes, Int64
from hexsim.lowering.products import LoweredConvolution, LoweredDeconvolution


class PreparedDeconvolution:
    """The convolution, and the interleaving unless there is one phase."""

    def __init__(
        self, call: LoweredDeconvolution, prepare: Callable[[LoweredCall], PreparedCall]
    ) -> None:
        convolution = as_convolution(call)
        self._prepared = prepare(convolution)
        self._phases, self._groups = call.phases, call.groups
        self._shape = convolution.output.shape

    def steps(self, at: Buffers) -> list[Work]:
        """See PreparedCall."""
        if self._phases.number == 1:
            return list(self._prepared.steps(at))
        output = at.output
        phases = at.workspace.empty(self._shape, output.dtype)
        work = self._prepared.steps(at._replace(output=phases))
        arguments = (
            phases.reshape(*self._shape[:3], self._groups, *self._phases.counts, -1),
            np.array(self._phases.crop, np.int64),
            output.reshape(*output.shape[:3], self._groups, -1),
            *ROWS,
        )
        return [*work, Step(_interleave(output.dtype), arguments, math.prod(output.shape[:2]))]


def as_convolution(call: LoweredDeconvolution) -> LoweredConvolution:
    """Return the convolution of all phases; its channels are ordered by group, phase, channel."""
    x, phases = call.inputs[0], call.phases
    size = phases.window.output_size(*x.shape[1:3])
    channels = call.output.shape[-1] * phases.number

    def repeated(entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
        parts = entries.reshape(call.groups, 1, -1)
        return np.repeat(parts, phases.number, axis=1).reshape(-1)

    return LoweredConvolution(
        layer=call.layer,
        inputs=call.inputs,
        output=replace(call.output, shape=(x.shape[0], *size, channels)),
        weights=Weights(
            _weights_of_phases(call), call.weights.zero_point, repeated(call.weights.steps)
        ),
        window=phases.window,
        groups=call.groups,
        stage=replace(
            call.stage,
            preload=repeated(call.stage.preload),
            multiplier=repeated(call.stage.multiplier),
            shift=repeated(call.stage.shift),
        ),
    )


def _weights_of_phases(call: LoweredDeconvolution) -> npt.NDArray[np.integer[Any]]:
    """Return (kernel height, kernel width, inputs / groups, groups * phases * outputs / groups).

    Tap t of the convolution reads the input taps - 1 - t strides behind: hence the reverse order.
    """
    codes, window, phases = call.weights.codes, call.window, call.phases
    (high, wide), (down, right) = phases.window.kernel, phases.counts
    filled = np.full(
        (high * down, wide * right, *codes.shape[2:]), call.weights.zero_point, codes.dtype
    )
    rows, columns = (
        slice(0, reach, apart) for reach, apart in zip(window.reach, window.dilations, strict=True)
    )
    filled[rows, columns] = codes
    inputs = codes.shape[2]
    taps = filled.reshape(high, down, wide, right, inputs, call.groups, -1)[::-1, :, ::-1]
    ordered = taps.transpose(0, 2, 4, 5, 1, 3, 6)
    return np.ascontiguousarray(ordered.reshape(high, wide, inputs, -1))


@template("void({0}[:,:,:,:,:,:,::1],int64[::1],{0}[:,:,:,:,::1],int64,int64)")
def _interleave(phases: Codes, crop: Int64, out: Out, first: int, last: int) -> None:
    down, right = phases.shape[4], phases.shape[5]
    for output_row in range(first, last):
        image = output_row // out.shape[1]
        oy = output_row - image * out.shape[1]
        y = (oy + crop[0]) // down
        phase_y = oy + crop[0] - y * down
        for ox in range(out.shape[2]):
            x = (ox + crop[1]) // right
            phase_x = ox + crop[1] - x * right
            for group in range(out.shape[3]):
                source = phases[image, y, x, group, phase_y, phase_x]
                target = out[image, oy, ox, group]
                for c in range(target.size):
                    target[c] = source[c]
