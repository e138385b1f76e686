"""Slow reference implementations of Caffe's layers, in doubles, after its documented formulas."""

from __future__ import annotations

import math

import numpy as np


def convolution(x, weights, bias, *, stride=(1, 1), pad=(0, 0), dilation=(1, 1), group=1):
    count, inner, kh, kw = weights.shape
    padded = np.pad(x.astype(float), ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    height = (padded.shape[2] - dilation[0] * (kh - 1) - 1) // stride[0] + 1
    width = (padded.shape[3] - dilation[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((len(x), count, height, width))
    for n, o, i, j in np.ndindex(y.shape):
        first = o // (count // group) * inner
        for c, p, q in np.ndindex(inner, kh, kw):
            pixel = padded[
                n, first + c, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1]
            ]
            y[n, o, i, j] += weights[o, c, p, q] * pixel
        y[n, o, i, j] += bias[o]
    return y


def deconvolution(x, weights, bias, *, stride=1, pad=0, group=1):
    channels, outer, kh, kw = weights.shape
    batch, _, height, width = x.shape
    count = outer * group
    full = np.zeros((batch, count, (height - 1) * stride + kh, (width - 1) * stride + kw))
    for n, c, i, j in np.ndindex(x.shape):
        first = c // (channels // group) * outer
        for o, p, q in np.ndindex(outer, kh, kw):
            full[n, first + o, i * stride + p, j * stride + q] += (
                x[n, c, i, j] * weights[c, o, p, q]
            )
    full = full[:, :, pad : full.shape[2] - pad, pad : full.shape[3] - pad]
    return full + np.reshape(bias, (1, -1, 1, 1))


def pooling(x, kind, kernel, stride, pad, *, floor=False):
    batch, channels, height, width = x.shape
    rounded = math.floor if floor else math.ceil
    sizes = []
    for size in (height, width):
        count = rounded((size + 2 * pad - kernel) / stride) + 1
        if pad and not floor and (count - 1) * stride >= size + pad:
            count -= 1
        sizes.append(count)
    y = np.zeros((batch, channels, *sizes))
    for n, c, i, j in np.ndindex(y.shape):
        top, left = i * stride - pad, j * stride - pad
        bottom, right = min(top + kernel, height + pad), min(left + kernel, width + pad)
        taps = (bottom - top) * (right - left)
        inside = x[n, c, max(top, 0) : min(bottom, height), max(left, 0) : min(right, width)]
        y[n, c, i, j] = inside.max() if kind == "MAX" else inside.sum(dtype=float) / taps
    return y


def lrn_across(x, size, alpha, beta, k):
    y = np.zeros(x.shape)
    for c in range(x.shape[1]):
        near = x[:, max(c - size // 2, 0) : c + size // 2 + 1].astype(float)
        y[:, c] = x[:, c] * (k + alpha / size * (near**2).sum(axis=1)) ** -beta
    return y


def lrn_within(x, size, alpha, beta):
    means = pooling(x.astype(float) ** 2, "AVE", size, 1, (size - 1) // 2)
    return x * (1 + alpha * means) ** -beta


def batch_norm(x, sums, squares, factor, eps=1e-5):
    by = 0 if factor == 0 else 1 / factor
    mean, variance = (np.reshape(a * by, (1, -1, 1, 1)) for a in (sums, squares))
    return (x - mean) / np.sqrt(variance + eps)


def mvn(x, axes, eps=1e-9):
    centred = x.astype(float) - x.mean(axis=axes, keepdims=True, dtype=float)
    return centred / (np.sqrt((centred**2).mean(axis=axes, keepdims=True)) + eps)


def softmax(x, axis):
    e = np.exp(x.astype(float) - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
