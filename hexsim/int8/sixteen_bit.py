"""16-bit operands: one pass of the 8-bit kernel for every pair of bytes, then one requantise.

A code is two bytes, each an 8-bit tensor with a zero point of its own ("Sixteen bits" in
docs/reference/arithmetic.md); signed codes have a signed high byte. A kernel that accumulates
products writes its bare int32 sums if its output is int32 (`PreparedCall`). Each pass has the bytes
of one place as its operands; the requantise stage adds the sums up, each raised by its place, in 64
bits.

LocalResponseNorm by a table of powers is computed in 64 bits and whole arrays, for any width.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hexsim.int8.machine_code.arguments import ALIGNMENT, record
from hexsim.int8.machine_code.jit import kernel, template
from hexsim.int8.requantize import requantize_16bit
from hexsim.int8.step import (
    ROWS,
    Buffers,
    Out,
    PreparedCall,
    Scratch,
    Step,
    Steps,
    Work,
    Workspace,
    unpacked,
)
from hexsim.lowering import LoweredCall
from hexsim.lowering.elementwise import LoweredSum
from hexsim.lowering.images import LoweredAveragePool16
from hexsim.lowering.local_response_norm import OCTAVE_BITS, LoweredLocalResponseNorm
from hexsim.lowering.lowered_call import Codes, Int32, Int64, Operand
from hexsim.lowering.normalization import LoweredBatchNorm
from hexsim.lowering.products import LoweredConvolution, LoweredFullyConnected
from hexsim.lowering.reduce import LoweredReduceSum
from hexsim.lowering.requantize import Requantize
from hexsim.lowering.source import Weights


def byte_codes(codes: npt.NDArray[np.integer[Any]], byte: int) -> npt.NDArray[Any]:
    """Return one byte of codes, C-contiguous; 8-bit codes are byte 0 of themselves."""
    if codes.dtype.itemsize == 1:
        return codes
    shifted = codes >> (8 * byte)
    signed = byte and codes.dtype.kind == "i"
    return np.ascontiguousarray((shifted & 0xFF).astype(np.uint8)).view("i1" if signed else "u1")


def byte_operands(x: Operand) -> list[tuple[int, Operand]]:
    """Return the bytes of an operand as 8-bit operands, lowest first, with their numbers."""
    if x.bits == 8:
        return [(0, x)]
    return [(byte, _byte_operand(x, byte)) for byte in range(x.bits // 8)]


def _byte_operand(x: Operand, byte: int) -> Operand:
    zero_point = x.zero_point >> (8 * byte) & 0xFF
    delta = x.delta * 256**byte
    encoding = replace(
        x.encoding,
        bitwidth=8,
        min=-zero_point * delta,
        max=(255 - zero_point) * delta,
        delta=delta,
        offset=-zero_point,
    )
    codes: Codes | None = None if x.codes is None else byte_codes(x.codes, byte)
    return replace(x, encoding=encoding, codes=codes)


def byte_weights(weights: Weights) -> list[tuple[int, Weights]]:
    """Return the bytes of weights as 8-bit weights, lowest first, with their numbers."""
    if weights.bits == 8:
        return [(0, weights)]
    zero = weights.zero_point
    return [
        (
            byte,
            Weights(
                byte_codes(weights.codes, byte),
                zero >> (8 * byte) & 0xFF,
                weights.steps * 256**byte,
            ),
        )
        for byte in range(weights.bits // 8)
    ]


Linear = (
    LoweredConvolution
    | LoweredFullyConnected
    | LoweredBatchNorm
    | LoweredAveragePool16
    | LoweredReduceSum
    | LoweredSum
)


class PreparedBytes:
    """A call that is linear in its operand's codes and, if it has weights, in theirs."""

    def __init__(self, call: Linear, prepare: Callable[[LoweredCall], PreparedCall]) -> None:
        passes = list(_passes(call))
        self._bytes = [byte for byte, _, _ in passes]
        self._kernels = [prepare(narrow_call) for _, _, narrow_call in passes]
        self._finish = Stage16(call, [8 * (byte + weight) for byte, weight, _ in passes])

    def steps(self, at: Buffers) -> list[Work]:
        """See PreparedCall."""
        work: list[Work] = []
        planes = {
            byte: [_byte_plane(x, byte, at.workspace, work) for x in at.inputs]
            for byte in dict.fromkeys(self._bytes)
        }
        sums = at.workspace.empty((len(self._kernels), *at.output.shape), np.int32)
        for byte, byte_kernel, out in zip(self._bytes, self._kernels, sums, strict=True):
            work += byte_kernel.steps(Buffers(planes[byte], out, at.workspace))
        return [*work, self._finish.step(sums, at.output)]


def _byte_plane(codes: Codes, byte: int, workspace: Workspace, work: list[Work]) -> Codes:
    """Return one byte of each code; the step that makes it is added to `work`."""
    if codes.dtype.itemsize == 1:
        return codes
    plane = workspace.empty(codes.shape, np.uint8)
    arguments = (codes.reshape(-1), 8 * byte, plane.reshape(-1), *ROWS)
    work.append(Step(_take_byte, arguments, codes.size, ALIGNMENT))
    return plane


@kernel("void(uint16[::1],int64,uint8[::1],int64,int64)")
def _take_byte(codes: Codes, place: int, plane: Codes, first: int, last: int) -> None:
    source, target = codes[first:last], plane[first:last]
    for i in range(target.size):
        target[i] = np.uint8(source[i] >> place)


def _passes(call: Linear) -> Iterator[tuple[int, int, Linear]]:
    """Yield (byte of the operands, byte of the weights, 8-bit call) for every pass."""
    for operands in zip(*(byte_operands(x) for x in call.inputs), strict=True):
        byte, inputs = operands[0][0], tuple(x for _, x in operands)
        narrow_call = replace(call, inputs=inputs, stage=_bare(call.stage))
        if isinstance(narrow_call, LoweredConvolution | LoweredFullyConnected):
            for place, part in byte_weights(narrow_call.weights):
                yield byte, place, replace(narrow_call, weights=part)
        else:
            yield byte, 0, narrow_call


def _bare(stage: Requantize) -> Requantize:
    """Return a requantise stage that adds nothing to the sums."""
    return replace(stage, preload=np.zeros(stage.preload.shape, np.int32), fraction_bits=0)


@record("int32[::1],int64,int64[::1],int32[::1],int32[::1],int64,int64,int64")
class Stages16(NamedTuple):
    """Stages with fraction bits: one per column if `along` is not zero, else one per row.

    `entries`, repeated as often as needed, has the stage of each row.
    """

    entries: Int32
    along: int
    preload: Int64
    multiplier: Int32
    shift: Int32
    fraction_bits: int
    low: int
    high: int


class Stage16:
    """The stage that raises sums by their places, adds them to the preload and requantises them.

    `places` are the bits by which each of the arrays of sums is raised. Constants are per last
    axis, per pixel (average pooling) or one for all.
    """

    def __init__(self, call: Linear | LoweredLocalResponseNorm, places: Sequence[int]) -> None:
        stage = call.stage
        self._places = np.array(places, np.int64)
        along = int(stage.preload.size > 1 and not isinstance(call, LoweredAveragePool16))
        entries = np.zeros(1, np.int32)
        if isinstance(call, LoweredAveragePool16):
            entries = np.ascontiguousarray(call.stage_of).reshape(-1)
        self._stages = Stages16(
            entries, along, stage.preload.astype(np.int64), stage.multiplier, stage.shift,
            stage.fraction_bits, stage.low, stage.high,
        )  # fmt: skip

    def step(self, sums: npt.NDArray[np.signedinteger[Any]], output: Out) -> Step:
        """Return the step that writes the codes of `sums`, one array per place.

        Each of these arrays has the shape of the output.
        """
        columns = output.shape[-1] if output.ndim else 1
        rows = output.reshape(-1, columns)
        arguments = (
            sums.reshape(len(sums), -1, columns), self._places, self._stages, rows,
            Scratch(columns, np.int64), *ROWS,
        )  # fmt: skip
        return Step(_finish(sums.dtype, output.dtype), arguments, len(rows))

    def __call__(self, sums: npt.NDArray[np.signedinteger[Any]], output: Out) -> None:
        """Do that step now."""
        self.step(sums, output)()


@template("void({0}[:,:,::1],int64[::1],Stages16,{1}[:,::1],int64[::1],int64,int64)")
def _finish(
    sums: npt.NDArray[np.signedinteger[Any]],
    places: Int64,
    stages: Stages16,
    out: npt.NDArray[Any],
    totals: Int64,
    first_row: int,
    last_row: int,
) -> None:
    entries, preload, multiplier, shift = (
        stages.entries, stages.preload, stages.multiplier, stages.shift
    )  # fmt: skip
    fraction_bits, low, high = stages.fraction_bits, stages.low, stages.high
    for row in range(first_row, last_row):
        first = np.int64(entries[row % entries.size])
        codes = out[row]
        totals[:] = 0
        for k in range(places.size):
            place, part = places[k], sums[k, row]
            for column in range(totals.size):
                totals[column] += np.int64(part[column]) << place
        if stages.along:
            for column in range(totals.size):
                codes[column] = requantize_16bit(
                    totals[column] + preload[column], multiplier[column], shift[column],
                    fraction_bits, low, high,
                )  # fmt: skip
        else:
            for column in range(totals.size):
                codes[column] = requantize_16bit(
                    totals[column] + preload[first], multiplier[first], shift[first],
                    fraction_bits, low, high,
                )  # fmt: skip


@unpacked
def local_response_norm(call: LoweredLocalResponseNorm, at: Buffers) -> Steps:
    """Normalisation across the channels around each channel."""
    return [partial(_normalize, call, Stage16(call, [0]), at.inputs[0], at.output)]


def _normalize(call: LoweredLocalResponseNorm, finish: Stage16, codes: Codes, output: Out) -> None:
    distance = codes.astype(np.int64) - call.inputs[0].zero_point
    size = call.size
    behind = (size - 1) // 2
    padding = [(0, 0)] * (distance.ndim - 1)
    padding.append((behind + 1, size - 1 - behind))
    running = np.cumsum(np.pad(distance * distance, padding), axis=-1)
    squares = running[..., size:] - running[..., :-size]
    finish((distance * _power(call.powers, squares))[np.newaxis], output)


def _power(powers: Int64, squares: Int64) -> Int64:
    """Interpolate the table of powers at sums of squares, any shape."""
    _, octave = np.frexp(squares.astype(np.float64))  # exact: sums have fewer than 53 bits
    bits = np.maximum(octave.astype(np.int64) - 1 - OCTAVE_BITS, 0)
    knot = (bits << OCTAVE_BITS) + (squares >> bits)
    rest = squares & ((np.int64(1) << bits) - 1)
    half = (np.int64(1) << bits) >> 1
    below = powers[knot]
    power: Int64 = below + (((powers[knot + 1] - below) * rest + half) >> bits)
    return power
