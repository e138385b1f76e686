"""Convolutions as TFLite's reference kernels finish them: two roundings where HVX has one.

The accumulator is multiplied by a 31-bit fraction, rounded, then shifted right, rounded again
(half away from zero both times; gemmlowp's fixed point arithmetic, as published with TFLite).
"""

import numpy as np

from hexsim.lowering.products import LoweredConvolution


def convolved(call: LoweredConvolution, codes: np.ndarray) -> np.ndarray:
    """Output codes of a dense or depthwise convolution of `codes`, shape (n, h, w, channels)."""
    (operand,), output = call.inputs, call.output
    scale = operand.delta * call.weights.steps / output.encoding.delta
    fraction, exponent = np.frexp(scale)
    multiplier = np.floor(fraction * 2.0**31 + 0.5).astype(np.int64)
    bias = call.stage.preload - np.floor(output.encoding.zero_point / scale + 0.5).astype(np.int64)
    products = (_sums(call, codes) + bias) * multiplier
    once = _halved(products, np.full_like(exponent, 31, np.int64))
    twice = _halved(once, -exponent.astype(np.int64)) + output.encoding.zero_point
    return np.clip(twice, call.stage.low, call.stage.high).astype(np.uint8)


def _halved(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Divided by 2^times, half away from zero."""
    return np.sign(values) * ((np.abs(values) + (1 << times >> 1)) >> times)


def _sums(call: LoweredConvolution, codes: np.ndarray) -> np.ndarray:
    """Products of distances from zero, summed over window and input channels, int64."""
    window, weights = call.window, call.weights.codes.astype(np.int64) - call.weights.zero_point
    top, left, bottom, right = window.pads
    distance = codes.astype(np.int64) - call.inputs[0].zero_point
    padded = np.pad(distance, ((0, 0), (top, bottom), (left, right), (0, 0)))
    _, height, width, channels = call.output.shape
    sums = np.zeros((len(codes), height, width, channels), np.int64)
    for ky, kx in np.ndindex(*window.kernel):
        rows = slice(ky, ky + height * window.strides[0], window.strides[0])
        columns = slice(kx, kx + width * window.strides[1], window.strides[1])
        pixels = padded[:, rows, columns][:, :height, :width]
        sums += pixels @ weights[ky, kx] if call.groups == 1 else pixels * weights[ky, kx, 0]
    return sums
