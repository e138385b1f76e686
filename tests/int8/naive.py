"""Slow, obvious reference implementations of the integer kernels.

They are written from docs/reference/arithmetic.md. Every function takes a lowered call and the
codes of its operands and returns the output codes. Arithmetic is int64 or Python integers; `wrap`
says where the contract has an int32. Layers that accumulate give their sums as a function of one
byte of each code, which `finish` adds up.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from hexsim.lowering.elementwise import (
    LoweredExtremum,
    LoweredPairProduct,
    LoweredPairSum,
    LoweredProduct,
    LoweredQuotient,
    LoweredSum,
)
from hexsim.lowering.functions import LoweredLookup
from hexsim.lowering.images import (
    LoweredAveragePool,
    LoweredAveragePool16,
    LoweredBilinear,
    LoweredBilinear16,
    LoweredDoubling,
    LoweredMaxPool,
    LoweredNearest,
)
from hexsim.lowering.local_response_norm import (
    LoweredByteResponseNorm,
    LoweredLocalResponseNorm,
    logarithm_parabolas,
)
from hexsim.lowering.movement import (
    LoweredChannelPick,
    LoweredConcat,
    LoweredGather,
    LoweredNv21,
    LoweredPad,
    LoweredRearrange,
    LoweredSlice,
    LoweredTile,
)
from hexsim.lowering.normalization import (
    LoweredBatchNorm,
    LoweredByteSoftmax,
    LoweredNormalization,
    LoweredSoftmax,
)
from hexsim.lowering.normalization import coefficients as power_parabolas
from hexsim.lowering.products import (
    LoweredConvolution,
    LoweredDeconvolution,
    LoweredFullyConnected,
    LoweredMatMul,
)
from hexsim.lowering.recurrent import LoweredRecurrent
from hexsim.lowering.reduce import LoweredArgExtremum, LoweredReduceExtremum, LoweredReduceSum


def run(call, inputs):
    """Result of any lowered call."""
    return REFERENCES[type(call)](call, [np.asarray(x, np.int64) for x in inputs])


def input_codes(values, encoding):
    """8-bit codes of floats, by exact fractions."""
    low = np.float32(encoding.delta * encoding.offset)
    high = np.float32(encoding.delta * (encoding.offset + 255))
    reach = Fraction(float((high - low) * np.float32(256 / 255)))
    unit = Fraction(2) ** -200
    while reach >= unit * 2**20:
        unit *= 2
    span = math.floor(reach / unit)
    start = math.floor(Fraction(float(-low)) / unit) + (span >> 9)
    factor = (2**32 - 1) // span
    units = [math.trunc(Fraction(float(x)) / unit) for x in values.ravel()]
    codes = [min(max(x + start, 0), span) * factor >> 24 for x in units]
    return np.array(codes).reshape(values.shape)


def wrap(value):
    return (np.asarray(value, np.int64) + 2**31) % 2**32 - 2**31


def saturate(value):
    return np.clip(value, -(2**31), 2**31 - 1)


def requantize(accumulator, multiplier, shift, low, high, fraction_bits=0):
    """Python integers of any size; what the fraction bits add is exact to 2^-15 of a code."""

    def requantized(*numbers):
        total, multiplier, shift = map(int, numbers)
        whole, rest = divmod(total, 2**fraction_bits)
        whole = min(max(whole, -(2**31)), 2**31 - 1) * 2**shift
        whole = min(max(whole, -(2**31)), 2**31 - 1)
        more = rest * multiplier * 2**shift // 2 ** (fraction_bits + 16)
        return min(max((whole * multiplier + more * 2**16 + 2**30) // 2**31, low), high)

    arrays = (np.asarray(x, object) for x in (accumulator, multiplier, shift))
    return np.vectorize(requantized, otypes=[np.int64])(*np.broadcast_arrays(*arrays))


def finish(accumulator, stage, entry=slice(None)):
    """Requantise sums (without preload) by the constants `entry` of a requantise stage."""
    total = accumulator + stage.preload[entry].astype(np.int64)
    total = total if stage.fraction_bits else wrap(total)
    constants = (stage.multiplier[entry], stage.shift[entry], stage.low, stage.high)
    return requantize(total, *constants, stage.fraction_bits)


def pieces(codes, zero_point, bits):
    """(place in bits, distance of that byte from the zero point's), for 8 or 16 bits."""
    if bits == 8:
        return [(0, codes - zero_point)]
    return [(0, codes % 256 - zero_point % 256), (8, codes // 256 - zero_point // 256)]


def weight_pieces(weights):
    """The same of weights; the high byte of signed codes is signed."""
    codes, bits = weights.codes.astype(np.int64), 8 * weights.codes.dtype.itemsize
    return pieces(codes, weights.zero_point, bits)


def multiplied(call, x, sums):
    """`sums` of every byte of x with every byte of the weights, each wrapped, added up."""
    return sum(
        wrap(sums(a, b)) * 2 ** (i + j)
        for i, a in pieces(x, call.inputs[0].zero_point, call.inputs[0].bits)
        for j, b in weight_pieces(call.weights)
    )


def taps(window, shape, oy, ox):
    """(kernel row, kernel column, input row, input column) of the taps inside the input."""
    for ky, kx in itertools.product(range(window.kernel[0]), range(window.kernel[1])):
        y = oy * window.strides[0] - window.pads[0] + ky * window.dilations[0]
        x = ox * window.strides[1] - window.pads[1] + kx * window.dilations[1]
        if 0 <= y < shape[1] and 0 <= x < shape[2]:
            yield ky, kx, y, x


def pixels(shape):
    return itertools.product(range(shape[0]), range(shape[1]), range(shape[2]))


def convolution(call, inputs):
    def sums(x, weights):
        deep, wide = x.shape[-1] // call.groups, weights.shape[-1] // call.groups
        sums = np.zeros(call.output.shape, np.int64)
        for n, oy, ox in pixels(sums.shape):
            for ky, kx, y, xx in taps(call.window, x.shape, oy, ox):
                for g in range(call.groups):
                    columns = slice(g * wide, (g + 1) * wide)
                    pixel = x[n, y, xx, g * deep : (g + 1) * deep]
                    sums[n, oy, ox, columns] += pixel @ weights[ky, kx, :, columns]
        return sums

    return finish(multiplied(call, inputs[0], sums), call.stage)


def deconvolution(call, inputs):
    """Every input pixel adds its window to the output."""

    def sums(x, weights):
        deep, wide = x.shape[-1] // call.groups, weights.shape[-1] // call.groups
        sums = np.zeros(call.output.shape, np.int64)
        steps, apart, pads = call.window.strides, call.window.dilations, call.window.pads
        for (n, y, xx), ky, kx in itertools.product(
            pixels(x.shape), range(call.window.kernel[0]), range(call.window.kernel[1])
        ):
            oy = y * steps[0] + ky * apart[0] - pads[0]
            ox = xx * steps[1] + kx * apart[1] - pads[1]
            if 0 <= oy < sums.shape[1] and 0 <= ox < sums.shape[2]:
                for g in range(call.groups):
                    columns = slice(g * wide, (g + 1) * wide)
                    pixel = x[n, y, xx, g * deep : (g + 1) * deep]
                    sums[n, oy, ox, columns] += pixel @ weights[ky, kx, :, columns]
        return sums

    return finish(multiplied(call, inputs[0], sums), call.stage)


def fully_connected(call, inputs):
    x = inputs[0].reshape(call.output.shape[0], -1)
    return finish(multiplied(call, x, lambda x, weights: x @ weights), call.stage)


def max_pool(call, inputs):
    best = np.zeros(call.output.shape, np.int64)
    for n, oy, ox in pixels(best.shape):
        for _, _, y, x in taps(call.window, inputs[0].shape, oy, ox):
            best[n, oy, ox] = np.maximum(best[n, oy, ox], inputs[0][n, y, x])
    return through(call.table, best)


def window_sums(call, inputs):
    x = inputs[0] - call.inputs[0].zero_point  # nothing wraps: windows are smaller than 2^23
    sums = np.zeros(call.output.shape, np.int64)
    for n, oy, ox in pixels(sums.shape):
        for _, _, y, xx in taps(call.window, x.shape, oy, ox):
            sums[n, oy, ox] += x[n, y, xx]
    return sums


def average_pool(call, inputs):
    means, sums = call.means, window_sums(call, inputs)
    for n, oy, ox in pixels(sums.shape):
        i = call.entry_of[oy, ox]
        t = (sums[n, oy, ox] * means.gain[i] + means.offset[i]) // 2 ** means.right[i]
        u = (t * means.factor[i] + 2**14) // 2**15
        code = (u + 2 ** (means.last[i] - 1)) // 2 ** means.last[i]
        sums[n, oy, ox] = np.clip(code, 0, 255)
    return sums


def average_pool_16(call, inputs):
    sums = window_sums(call, inputs)
    for n, oy, ox in pixels(sums.shape):
        sums[n, oy, ox] = finish(sums[n, oy, ox], call.stage, call.stage_of[oy, ox])
    return sums


def nearest(call, inputs):
    out = np.empty(call.output.shape, np.int64)
    for n, y, x in pixels(out.shape):
        out[n, y, x] = inputs[0][n, call.rows[y], call.columns[x]]
    return through(call.table, out)


def bilinear(call, inputs):
    out = np.zeros(call.output.shape, np.int64)
    for n, oy, ox in pixels(out.shape):
        (i, below, v), (j, right, h) = call.rows[oy].tolist(), call.columns[ox].tolist()
        a, b = ((128 - v) * inputs[0][n, i, k] + v * inputs[0][n, below, k] for k in (j, right))
        out[n, oy, ox] = (a + ((b - a) * h + 2**14) // 2**15 + 64) // 128
    return through(call.table, out)


def doubling(call, inputs):
    x = np.pad(inputs[0], ((0, 0), (0, 1), (0, 1), (0, 0)), "edge")
    out = np.zeros(call.output.shape, np.int64)
    for n, oy, ox in pixels(out.shape):
        i, j = oy // 2, ox // 2
        a, b = ((x[n, k, j] + x[n, k, j + ox % 2]) // 2 for k in (i, i + oy % 2))
        out[n, oy, ox] = (a + b + (ox >= call.up_from)) // 2
    return through(call.table, out)


def bilinear_16(call, inputs):
    whole, x = 2**15, inputs[0].astype(np.int64) - call.inputs[0].zero_point
    sums = np.zeros(call.output.shape, np.int64)
    for n, oy, ox in pixels(sums.shape):
        (i, below, v), (j, right, h) = call.rows[oy].tolist(), call.columns[ox].tolist()
        sums[n, oy, ox] = (whole - v) * ((whole - h) * x[n, i, j] + h * x[n, i, right])
        sums[n, oy, ox] += v * ((whole - h) * x[n, below, j] + h * x[n, below, right])
    return finish(sums, call.stage)


def weighted_sum(call, inputs):
    sums = {}
    for operand, codes, factor in zip(call.inputs, inputs, call.factors, strict=True):
        for place, byte in pieces(codes, operand.zero_point, operand.bits):
            sums[place] = sums.get(place, np.zeros(call.output.shape, np.int64)) + factor * byte
    return finish(sum(wrap(total) * 2**place for place, total in sums.items()), call.stage)


def product(call, inputs):
    total = np.ones(call.output.shape, np.int64)
    for operand, codes in zip(call.inputs, inputs, strict=True):
        total = total * (codes - operand.zero_point)
    return finish(total, call.stage)


def pair_sum(call, inputs):
    a, b = (np.asarray(codes, np.int64) for codes in inputs)
    total = wrap(a * call.factors[0] + b * call.factors[1])
    return last_shift(call, total // 2**call.cut)


def pair_product(call, inputs):
    a, b = (
        np.asarray(codes, np.int64) - operand.zero_point
        for codes, operand in zip(inputs, call.inputs, strict=True)
    )
    return last_shift(call, ((a * b - call.centre) * call.factor + 2**14) // 2**15)


def last_shift(call, fine):
    halfwords = np.clip(fine + call.offset, -(2**15), 2**15 - 1)
    return np.clip((halfwords + 2 ** (call.shift - 1)) // 2**call.shift, call.low, call.high)


def extremum(call, inputs):
    parts = [through(table, x) for table, x in zip(call.tables, inputs, strict=True)]
    spread = np.broadcast_arrays(*parts)
    return np.stack(spread).max(axis=0) if call.kind == "max" else np.stack(spread).min(axis=0)


def through(table, codes):
    if table is None:
        return np.asarray(codes)
    return np.array([table[q] for q in np.ravel(codes)], np.int64).reshape(np.shape(codes))


def concat(call, inputs):
    parts = [through(table, x) for table, x in zip(call.tables, inputs, strict=True)]
    return np.concatenate(parts, axis=call.axis)


def rearrange(call, inputs):
    split = inputs[0].reshape(call.split)
    moved = np.empty([call.split[axis] for axis in call.permutation], np.int64)
    for index in np.ndindex(*moved.shape):
        at = [0] * len(index)
        for axis, position in zip(call.permutation, index, strict=True):
            at[axis] = position
        moved[index] = split[tuple(at)]
    return through(call.table, moved.reshape(call.output.shape))


def pad(call, inputs):
    out = np.full(call.output.shape, call.fill, np.int64)
    corner = [part.start for part in call.interior]
    inner = through(call.table, inputs[0])
    for index in np.ndindex(*inner.shape):
        out[tuple(np.add(corner, index))] = inner[index]
    return out


def strided_slice(call, inputs):
    out = np.empty(call.output.shape, np.int64)
    for index in np.ndindex(*out.shape):
        places = zip(index, call.selection, inputs[0].shape, strict=True)
        out[index] = inputs[0][tuple(range(size)[part][at] for at, part, size in places)]
    return through(call.table, out)


def gather(call, inputs):
    codes = inputs[0]
    for axis, places in call.places:
        codes = np.stack([codes.take(int(at), axis) for at in places], axis)
    return through(call.table, codes)


def tile(call, inputs):
    out = np.empty(call.output.shape, np.int64)
    for index in np.ndindex(*out.shape):
        out[index] = inputs[0][tuple(np.remainder(index, inputs[0].shape))]
    return through(call.table, out)


def reduced(call, codes):
    """(index of the output, all codes that make it), for every number of the output."""
    for index in np.ndindex(*call.output.shape):
        yield (
            index,
            codes[tuple(slice(None) if a in call.axes else at for a, at in enumerate(index))],
        )


def reduce_sum(call, inputs):
    x = call.inputs[0]
    total = np.zeros(call.output.shape, np.int64)
    for place, byte in pieces(inputs[0], x.zero_point, x.bits):
        for index, codes in reduced(call, byte):
            total[index] += int(wrap(sum(map(int, codes.ravel())))) * 2**place
    return finish(total, call.stage)


def reduce_extremum(call, inputs):
    out = np.empty(call.output.shape, np.int64)
    for index, codes in reduced(call, inputs[0]):
        out[index] = codes.max() if call.kind == "max" else codes.min()
    return through(call.table, out)


def arg_extremum(call, inputs):
    """Python's own search: the first of equal codes."""
    rows = np.moveaxis(inputs[0], call.axis, -1)
    choose = max if call.kind == "max" else min
    places = [
        choose(range(len(row)), key=row.__getitem__) for row in rows.reshape(-1, rows.shape[-1])
    ]
    return np.array([int(call.codes[at]) for at in places]).reshape(call.output.shape)


def quotient(call, inputs):
    """Of fractions, rounded once; halves go up."""

    def divided(n, d):
        if d == 0:
            return call.output.zero_point if n == 0 else call.high if n > 0 else call.low
        exact = Fraction(int(n) * call.scale, int(d) * 2**call.shift)
        return call.output.zero_point + math.floor(exact + Fraction(1, 2))

    x, w = (codes - operand.zero_point for codes, operand in zip(inputs, call.inputs, strict=True))
    pairs = np.broadcast_arrays(x, w)
    codes = [
        min(max(divided(n, d), call.low), call.high)
        for n, d in zip(*map(np.ravel, pairs), strict=True)
    ]
    return np.array(codes, np.int64).reshape(pairs[0].shape)


def lookup(call, inputs):
    out = np.empty(call.output.shape, np.int64)
    for index in np.ndindex(*out.shape):
        table = call.tables[index[-1] if len(call.tables) > 1 else 0]
        out[index] = table[inputs[0][index]]
    return out


def channel_pick(call, inputs):
    out = np.empty(call.output.shape, np.int64)
    for index in np.ndindex(*out.shape):
        code = inputs[0][(*index[:-1], call.channels[index[-1]])]
        out[index] = code if call.table is None else call.table[code]
    return out


def nv21(call, inputs):
    out = np.empty(call.output.shape, np.uint8)
    planes, matrix, height = inputs[0], call.matrix.astype(np.int64), out.shape[1]
    for n, y, x in pixels(out.shape):
        luma = planes[n, y, x, 0] - 16
        v = planes[n, height + y // 2, x - x % 2, 0] - 128
        u = planes[n, height + y // 2, x - x % 2 + 1, 0] - 128
        for c in range(3):
            total = matrix[0, c] * luma + matrix[1, c] * v + matrix[2, c] * u
            code = min(max((total + 2**12) // 2**13, 0), 255)
            out[n, y, x, c] = code if call.table is None else call.table[code]
    return out


def batch_norm(call, inputs):
    x, factors = call.inputs[0], call.factors.astype(np.int64)
    sums = (
        wrap(byte * factors) * 2**place for place, byte in pieces(inputs[0], x.zero_point, x.bits)
    )
    return finish(sum(sums), call.stage)


def local_response_norm(call, inputs):
    x = inputs[0] - call.inputs[0].zero_point
    channels = x.shape[-1]
    accumulator = np.empty(x.shape, np.int64)
    for index in np.ndindex(*x.shape):
        first = index[-1] - (call.size - 1) // 2
        window = range(max(first, 0), min(first + call.size, channels))
        squares = sum(int(x[(*index[:-1], c)]) ** 2 for c in window)
        accumulator[index] = int(x[index]) * power(call.powers, squares)
    return finish(accumulator, call.stage)


def response_norm_of_bytes(call, inputs):
    x = inputs[0] - call.inputs[0].zero_point
    channels = x.shape[-1]
    codes = np.empty(x.shape, np.int64)
    for index in np.ndindex(*x.shape):
        first = index[-1] - (call.size - 1) // 2
        window = range(max(first, 0), min(first + call.size, channels))
        total = call.kappa + sum(int(x[(*index[:-1], c)]) ** 2 for c in window)
        exponent = total.bit_length() - 1
        mantissa = (total << 31 >> exponent >> 16) % 2**15
        logarithm = parabola(logarithm_parabolas(), mantissa, 2)
        power = call.sigma + call.beta * exponent - ((2**14 - call.beta * logarithm) >> 15)
        factor = parabola(power_parabolas(), power % 2**15, 1)
        shifted = int(x[index]) * factor >> min(max((power >> 15) + 12, 0), 31)
        codes[index] = call.output.zero_point + ((shifted + 4) >> 3)
    return codes.clip(0, 255)


def parabola(coefficients, place, scale):
    """Read off one of 16 pieces of 15 bits."""
    knot, slope, bend = (int(numbers[place // 2048]) for numbers in coefficients)
    rest = scale * (place % 2048)
    return knot + ((rest * (slope + ((bend * rest + 2**14) >> 15)) + 2**14) >> 15)


def power(powers, squares):
    """Interpolate between knots: every integer to 64, then 64 in each octave."""
    if squares < 64:
        return int(powers[squares])
    octave = squares.bit_length() - 7
    step = 2**octave
    knot = 64 * octave + squares // step
    below, above = int(powers[knot]), int(powers[knot + 1])
    return below + math.floor(((above - below) * (squares % step) + step // 2) / step)


def mat_mul(call, inputs):
    a, b = (
        codes.astype(object) - x.zero_point for codes, x in zip(inputs, call.inputs, strict=True)
    )
    return finish((a @ (b.swapaxes(-1, -2) if call.transposed else b)).astype(np.int64), call.stage)


def normalization(call, inputs):
    x, shape = (inputs[0] - call.inputs[0].zero_point).astype(object), call.output.shape
    factors = np.broadcast_to(call.factors.astype(object).reshape(call.spread), shape)
    preloads = np.broadcast_to(call.stage.preload.astype(object).reshape(call.spread), shape)
    n = math.prod(shape[axis] for axis in call.axes)
    s = x.sum(axis=tuple(call.axes), keepdims=True)
    q = (x * x).sum(axis=tuple(call.axes), keepdims=True)
    d, v = {
        "deviation": (n * x - s, n * q - s * s),
        "mean_square": (n * x, n * q),
        "length": (x, q),
    }[call.kind]
    d = (d + (2**call.cut // 2)) >> call.cut
    w = (v >> 2 * (call.cut + call.more)) + call.epsilon
    t = np.vectorize(over_root, otypes=[object])(d, w, call.normal_bits)
    stage = call.stage
    constants = (stage.multiplier[0], stage.shift[0], stage.low, stage.high, stage.fraction_bits)
    return requantize(preloads + factors * t, *constants)


def over_root(d, w, bits):
    """d / sqrt(w) with fraction bits."""
    if w == 0:
        return 0
    e = next(e for e in range(0, 64, 2) if w << e >= 2**60)
    r = 2**61 // math.isqrt(w << e)
    s = 61 - bits - e // 2
    return (d * r + 2 ** (s - 1)) >> s


def recurrent(call, inputs):
    steps, directions, batch, units = call.output.shape
    zero, most = call.output.zero_point, call.output.encoding.steps
    given = dict(zip(call.initial, inputs[1:], strict=True))
    hidden = np.zeros((directions, batch, units), object)
    if "hidden" in given:
        place = 1 + call.initial.index("hidden")
        distance = given["hidden"].astype(object) - call.inputs[place].zero_point
        hidden = np.clip(scaled(distance, call.of_hidden), -(2**17) + 1, 2**17 - 1)
    cells = np.zeros((directions, batch, units), object)
    if "cell" in given:
        place = 1 + call.initial.index("cell")
        distance = given["cell"].astype(object) - call.inputs[place].zero_point
        cells = (distance * call.cell_factor + 2**15) // 2**16
    out = np.empty(call.output.shape, np.int64)
    for d, item in itertools.product(range(directions), range(batch)):
        backwards = call.direction == "reverse" or d == 1
        state = [int(h) for h in hidden[d, item]]
        cell = [int(c) for c in cells[d, item]]
        for t in reversed(range(steps)) if backwards else range(steps):
            x = [int(code) - call.inputs[0].zero_point for code in inputs[0][t, item]]
            state, cell = one_step(call, d, x, state, cell)
            state = [min(max(zero + h, 0), most) - zero for h in state]
            out[t, d, item] = [zero + h for h in state]
    return out


def one_step(call, d, x, state, cell):
    """Distances of the new codes from zero, unlimited, and the new cells."""
    units = len(state)
    gates = call.weights.codes.shape[1] // call.output.shape[1] // units

    def sums(values, weights, scales, bias, gate, k):
        column = (d * gates + gate) * units + k
        total = sum(
            v * (int(w) - weights.zero_point)
            for v, w in zip(values, weights.codes[:, column], strict=True)
        )
        place = column if len(scales.shift) > 1 else 0
        return scaled(total, scales, place) + int(bias[column])

    def p(gate, k):
        return sums(x, call.weights, call.of_input, call.bias[0], gate, k)

    def q(gate, k, values=state):
        return sums(values, call.recurrence, call.of_state, call.bias[1], gate, k)

    def gate(number, k, knots):
        return read_off(p(number, k) + q(number, k), knots)

    unit, new, new_cell = 2**15, [], list(cell)
    resets = []
    if call.cell == "gru":
        resets = [gate(1, k, call.sigmoid) for k in range(units)]
    held = [(r * h + 2**14) >> 15 for r, h in zip(resets, state, strict=False)]
    for k in range(units):
        if call.cell == "rnn":
            new.append(scaled(gate(0, k, call.tanh), call.of_output))
        elif call.cell == "gru":
            z = gate(0, k, call.sigmoid)
            of_last = (resets[k] * q(2, k) + 2**14) >> 15 if call.resets_late else q(2, k, held)
            n = read_off(p(2, k) + of_last, call.tanh)
            fresh = scaled((unit - z) * n, call.of_output)
            new.append((fresh + ((z * state[k] + 2**6) >> 7) + 2**7) >> 8)
        else:
            i, o, f = (gate(number, k, call.sigmoid) for number in range(3))
            c = ((f * cell[k] + 2**14) >> 15) + ((i * gate(3, k, call.tanh) + 2**9) >> 10)
            new_cell[k] = int(saturate(c))
            new.append(scaled(o * read_off(new_cell[k], call.tanh), call.of_output))
    return new, new_cell


def scaled(number, scales, place=0):
    shift = int(scales.shift[place])
    return (number * int(scales.multiplier[place]) + 2 ** (shift - 1)) >> shift


def read_off(total, knots):
    """A function at a sum of twenty fraction bits."""
    place, rest = divmod(min(max((total + 2**7) >> 8, -(2**15)), 2**15 - 1), 256)
    below, above = int(knots[place + 128]), int(knots[place + 129])
    return below + (((above - below) * rest + 2**7) >> 8)


def softmax(call, inputs):
    axes = tuple(call.axes)
    e = call.exponentials[inputs[0].max(axis=axes, keepdims=True) - inputs[0]].astype(object)
    divisor = 2**call.scale_bits * e.sum(axis=axes, keepdims=True)
    code = call.output.zero_point + (2 * e * call.scale + divisor) // (2 * divisor)
    return np.clip(code, 0, call.output.encoding.steps).astype(np.int64)


def softmax_of_bytes(call, inputs):
    """Row by row; halfword products are rounded fractions of 15 bits."""

    def product(a, b):
        return (2 * a * b + 2**15) >> 16

    axes = tuple(call.axes)
    distance = inputs[0].max(axis=axes, keepdims=True).astype(np.int64) - inputs[0]
    sums = call.powers[distance].astype(object).sum(axis=axes, keepdims=True)
    shift, factor = np.empty(sums.shape, object), np.empty(sums.shape, object)
    for index, total in np.ndenumerate(sums):
        shift[index] = 31 - int(total).bit_length()
        d = (int(total) << shift[index]) >> 16
        y = product(2 * d - 2**16, product(2 * d - 2**16, 10598) - 5306) + 16569
        for _ in range(2):
            y = min(y - product(2 * (product(d, y) - 2**14), y), 2**15 - 1)
        factor[index] = product(y, 255 * 128)
    units = (call.shares[distance].astype(object) * factor) >> (15 + call.sum_bits - shift)
    return np.minimum((np.minimum(units, 2**15 - 1) + 2**5) >> 6, 255).astype(np.int64)


REFERENCES = {
    LoweredConvolution: convolution,
    LoweredDeconvolution: deconvolution,
    LoweredFullyConnected: fully_connected,
    LoweredMaxPool: max_pool,
    LoweredAveragePool: average_pool,
    LoweredAveragePool16: average_pool_16,
    LoweredNearest: nearest,
    LoweredBilinear: bilinear,
    LoweredBilinear16: bilinear_16,
    LoweredDoubling: doubling,
    LoweredSum: weighted_sum,
    LoweredProduct: product,
    LoweredPairSum: pair_sum,
    LoweredPairProduct: pair_product,
    LoweredExtremum: extremum,
    LoweredConcat: concat,
    LoweredRearrange: rearrange,
    LoweredPad: pad,
    LoweredSlice: strided_slice,
    LoweredGather: gather,
    LoweredTile: tile,
    LoweredReduceSum: reduce_sum,
    LoweredReduceExtremum: reduce_extremum,
    LoweredQuotient: quotient,
    LoweredArgExtremum: arg_extremum,
    LoweredChannelPick: channel_pick,
    LoweredNv21: nv21,
    LoweredLookup: lookup,
    LoweredBatchNorm: batch_norm,
    LoweredLocalResponseNorm: local_response_norm,
    LoweredMatMul: mat_mul,
    LoweredNormalization: normalization,
    LoweredRecurrent: recurrent,
    LoweredSoftmax: softmax,
    LoweredByteResponseNorm: response_norm_of_bytes,
    LoweredByteSoftmax: softmax_of_bytes,
}
