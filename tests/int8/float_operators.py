"""Operators in float64, by their definitions: what integer results are held against.

Nothing here knows of codes. Layers are hexsim's, in stored order (channels last).
"""

import math
from functools import reduce

import numpy as np

from hexsim.layers import (
    ArgExtremum,
    BatchNorm,
    Concat,
    Convert,
    Convolution,
    Deconvolution,
    Elementwise,
    FullyConnected,
    LocalResponseNorm,
    MatMul,
    Neuron,
    Normalization,
    Permute,
    Pooling,
    Prelu,
    Recurrent,
    Reduce,
    Resize,
    Softmax,
)


def computed(layer, x, constants):
    """The result of `layer` for its operands `x`, all of them float64."""
    with np.errstate(all="ignore"):
        return _BY_TYPE[type(layer)](layer, x, constants)


def _clamped(layer, y):
    return np.clip(y, layer.clamp.low, layer.clamp.high)


def _bias(layer, constants):
    return 0.0 if layer.bias is None else constants[layer.bias]


def _windows(x, window, fill):
    """The inputs of each tap, (taps height, taps width, batch, height, width, channels)."""
    top, left, bottom, right = window.pads
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
    height, width = window.output_size(x.shape[1], x.shape[2])
    rows, columns = window.strides
    return np.array(
        [
            [
                padded[
                    :,
                    i * window.dilations[0] :: rows,
                    j * window.dilations[1] :: columns,
                ][:, :height, :width]
                for j in range(window.kernel[1])
            ]
            for i in range(window.kernel[0])
        ]
    )


def _convolution(layer, x, constants):
    weight, groups = constants[layer.weight], layer.groups
    taps = np.split(_windows(x[0], layer.window, 0.0), groups, axis=-1)
    parts = [
        np.einsum("ijbhwc,ijco->bhwo", part, filters, optimize=True)
        for part, filters in zip(taps, np.split(weight, groups, axis=-1), strict=True)
    ]
    return _clamped(layer, np.concatenate(parts, axis=-1) + _bias(layer, constants))


def _deconvolution(layer, x, constants):
    (x,), weight, window = x, constants[layer.weight], layer.window
    batch, height, width, channels = layer.output_shapes([x.shape])[0]
    top, left = window.pads[:2]
    full = np.zeros((batch, height + 64, width + 64, channels))
    for i in range(window.kernel[0]):
        for j in range(window.kernel[1]):
            rows = slice(i, i + x.shape[1] * window.strides[0], window.strides[0])
            columns = slice(j, j + x.shape[2] * window.strides[1], window.strides[1])
            full[:, rows, columns] += x @ weight[i, j]
    y = full[:, top : top + height, left : left + width]
    return _clamped(layer, y + _bias(layer, constants))


def _fully_connected(layer, x, constants):
    y = x[0].reshape(len(x[0]), -1) @ constants[layer.weight]
    return _clamped(layer, y + _bias(layer, constants))


def _mat_mul(layer, x, constants):
    second = np.swapaxes(x[1], -1, -2) if layer.transposed else x[1]
    return _clamped(layer, layer.alpha * (x[0] @ second))


_ELEMENTWISE = {
    "sum": np.add,
    "product": np.multiply,
    "sub": np.subtract,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
}


def _elementwise(layer, x, constants):
    y = reduce(_ELEMENTWISE[layer.kind], x)
    if layer.kind == "div":
        y = np.where((x[0] == 0) & (x[1] == 0), 0.0, y)  # as the contract says
    return _clamped(layer, y)


_erf = np.vectorize(math.erf, otypes=[float])
_sigmoid = lambda x: 0.5 + 0.5 * np.tanh(x / 2)  # noqa: E731
_softplus = lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))  # noqa: E731
NEURONS = {
    "leaky_relu": lambda x, a, b: np.where(x >= 0, x, a * x),
    "sigmoid": lambda x, a, b: _sigmoid(x),
    "tanh": lambda x, a, b: np.tanh(x),
    "elu": lambda x, a, b: np.where(x >= 0, x, a * (np.exp(np.minimum(x, 0)) - 1)),
    "hard_sigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "hard_swish": lambda x, a, b: x * np.clip(x + 3, 0, 6) / 6,
    "abs": lambda x, a, b: np.abs(x),
    "ceil": lambda x, a, b: np.ceil(x),
    "cos": lambda x, a, b: np.cos(x),
    "erf": lambda x, a, b: _erf(x),
    "exp": lambda x, a, b: np.exp(x),
    "floor": lambda x, a, b: np.floor(x),
    "gelu": lambda x, a, b: x * (1 + _erf(x / 2**0.5)) / 2,
    "gelu_tanh": lambda x, a, b: x * _sigmoid(2 * (2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)),
    "log": lambda x, a, b: np.log(x),
    "mish": lambda x, a, b: x * np.tanh(_softplus(x)),
    "neg": lambda x, a, b: -x,
    "pow": lambda x, a, b: np.power(x, a),
    "reciprocal": lambda x, a, b: 1 / x,
    "round": lambda x, a, b: np.rint(x),
    "rsqrt": lambda x, a, b: x**-0.5,
    "silu": lambda x, a, b: x * _sigmoid(a * x),
    "sin": lambda x, a, b: np.sin(x),
    "softplus": lambda x, a, b: _softplus(x),
    "softsign": lambda x, a, b: x / (1 + np.abs(x)),
    "sqrt": lambda x, a, b: x**0.5,
    "square": lambda x, a, b: x * x,
}


def _neuron(layer, x, constants):
    if layer.function == "clamp":
        return _clamped(layer, x[0])
    return NEURONS[layer.function](x[0], layer.alpha, layer.beta)


def _prelu(layer, x, constants):
    return np.where(x[0] >= 0, x[0], constants[layer.slope] * x[0])


def _pooling(layer, x, constants):
    if layer.kind == "max":
        return _windows(x[0], layer.window, -np.inf).max(axis=(0, 1))
    sums = _windows(x[0], layer.window, 0.0).sum(axis=(0, 1))
    inside = _windows(np.ones_like(x[0]), layer.window, float(layer.count_include_pad))
    return sums / inside.sum(axis=(0, 1))


def _along(position, size):
    position = np.clip(position, 0, size - 1)
    first = np.floor(position).astype(int)
    return first, np.minimum(first + 1, size - 1), position - first


def _resize(layer, x, constants):
    (x,) = x
    height, width = layer.output_shapes([x.shape])[0][1:3]
    for axis, size in ((1, height), (2, width)):
        old, index = x.shape[axis], np.arange(size)
        position = {
            "half_pixel": (index + 0.5) * old / size - 0.5,
            "align_corners": index * (old - 1) / max(size - 1, 1),
            "asymmetric": index * old / size,
        }[layer.coordinates]
        if layer.kind == "nearest":
            nearest = np.clip(np.ceil(position - 0.5).astype(int), 0, old - 1)
            x = np.take(x, nearest, axis)
            continue
        first, second, rest = _along(position, old)
        rest = rest.reshape([-1 if a == axis else 1 for a in range(4)])
        x = np.take(x, first, axis) * (1 - rest) + np.take(x, second, axis) * rest
    return x


def _reduce(layer, x, constants):
    return getattr(np, layer.kind)(x[0], axis=tuple(layer.axes), keepdims=True)


def _arg_extremum(layer, x, constants):
    return getattr(np, f"arg{layer.kind}")(x[0], axis=layer.axis, keepdims=True).astype(float)


def _softmax(layer, x, constants):
    e = np.exp(x[0] - x[0].max(axis=tuple(layer.axes), keepdims=True))
    return e / e.sum(axis=tuple(layer.axes), keepdims=True)


def _batch_norm(layer, x, constants):
    return _clamped(layer, x[0] * constants[layer.scale] + constants[layer.shift])


def _normalization(layer, x, constants):
    (x,), axes = x, tuple(layer.axes)
    if layer.kind == "deviation":
        x = x - x.mean(axes, keepdims=True)
    square = (x * x).sum(axes, keepdims=True)
    if layer.kind != "length":
        square = square / layer.count(x.shape)
    root = np.maximum(np.sqrt(square + layer.epsilon), layer.floor)
    normal = np.where(root > 0, x / root, 0.0)
    scale = 1.0 if layer.scale is None else constants[layer.scale]
    shift = 0.0 if layer.shift is None else constants[layer.shift]
    return _clamped(layer, normal * scale + shift)


def _local_response_norm(layer, x, constants):
    (x,) = x
    before = (layer.size - 1) // 2
    padded = np.pad(x * x, [(0, 0)] * (x.ndim - 1) + [(before, layer.size - 1 - before)])
    sums = sum(padded[..., k : k + x.shape[-1]] for k in range(layer.size))
    return x * (layer.bias + layer.alpha / layer.size * sums) ** -layer.beta


def _recurrent(layer, x, constants):
    """Forward only; states begin at zero unless given."""
    x, *states = x
    steps, batch, _ = x.shape
    hidden = layer.hidden
    weight, recurrence = constants[layer.weight], constants[layer.recurrence]
    columns = weight.shape[1]
    bias = np.zeros((2, columns)) if layer.bias is None else constants[layer.bias]
    given = dict(zip(layer.initial, states, strict=True))
    zero = np.zeros((1, batch, hidden))
    h, c = given.get("hidden", zero)[0], given.get("cell", zero)[0]
    result = []
    for step in range(steps):
        p = np.split(x[step] @ weight + bias[0], columns // hidden, axis=-1)
        r = np.split(recurrence, columns // hidden, axis=-1)
        b = np.split(bias[1], columns // hidden)
        q = [h @ part + own for part, own in zip(r, b, strict=True)]
        if layer.cell == "lstm":
            i, o, f = (_sigmoid(p[k] + q[k]) for k in range(3))
            c = f * c + i * np.tanh(p[3] + q[3])
            h = o * np.tanh(c)
        elif layer.cell == "gru":
            z, reset = (_sigmoid(p[k] + q[k]) for k in range(2))
            late = layer.resets_late
            of_state = reset * q[2] if late else (reset * h) @ r[2] + b[2]
            h = (1 - z) * np.tanh(p[2] + of_state) + z * h
        else:
            h = np.tanh(p[0] + q[0])
        result.append(h)
    return np.array(result)[:, None]


_BY_TYPE = {
    ArgExtremum: _arg_extremum,
    BatchNorm: _batch_norm,
    Concat: lambda layer, x, constants: np.concatenate(x, axis=layer.axis),
    Convert: lambda layer, x, constants: x[0],
    Convolution: _convolution,
    Deconvolution: _deconvolution,
    Elementwise: _elementwise,
    FullyConnected: _fully_connected,
    LocalResponseNorm: _local_response_norm,
    MatMul: _mat_mul,
    Neuron: _neuron,
    Normalization: _normalization,
    Permute: lambda layer, x, constants: np.transpose(x[0], layer.permutation),
    Pooling: _pooling,
    Prelu: _prelu,
    Recurrent: _recurrent,
    Reduce: _reduce,
    Resize: _resize,
    Softmax: _softmax,
}
