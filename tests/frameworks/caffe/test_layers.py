"""Every layer type of Caffe computes what its formulas say, implemented slowly as a reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from hexsim.frameworks.caffe.layers import TRANSLATORS
from tests.frameworks.caffe import reference
from tests.frameworks.caffe.made import answered, layer, net

RNG = np.random.default_rng(16)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


X = normal(2, 6, 7, 8)
Y, Z = normal(2, 6, 7, 8), normal(2, 6, 7, 8)
ROWS = normal(3, 10)
W, B = normal(4, 6, 3, 2), normal(4)
GROUPED, DEPTHWISE, TRANSPOSED = normal(4, 3, 3, 3), normal(6, 1, 3, 3), normal(6, 2, 4, 4)
FULL, SLICED = normal(5, 336), normal(5, 56)
SIX, SEVEN, POSITIVE = normal(6), normal(6), np.abs(normal(6)) + 0.5
FACTOR = np.array([2.5], np.float32)


@dataclass(frozen=True)
class Case:
    """One layer `kind` with parameters, its inputs and weights, and what it should write."""

    kind: str
    parameters: str
    expected: Callable[..., np.ndarray | Sequence[np.ndarray]]
    inputs: Sequence[np.ndarray] = (X,)
    weights: Sequence[np.ndarray] = ()
    outputs: int = field(default=1)


def _channels(a: np.ndarray) -> np.ndarray:
    return a.reshape(1, -1, 1, 1)


def conv(text: str) -> str:
    return f"convolution_param {{ {text} }}"


def pool(text: str) -> str:
    return f"pooling_param {{ {text} }}"


CASES = [
    Case(
        "Convolution",
        conv("num_output: 4 kernel_h: 3 kernel_w: 2 stride: 2 pad_h: 1 pad_w: 0"),
        lambda x: reference.convolution(x, W, B, stride=(2, 2), pad=(1, 0)),
        weights=(W, B),
    ),
    Case(
        "Convolution",
        conv("num_output: 4 kernel_size: 3 kernel_size: 2 dilation: 2 bias_term: false"),
        lambda x: reference.convolution(x, W, np.zeros(4), dilation=(2, 2)),
        weights=(W,),
    ),
    Case(
        "Convolution",
        conv("num_output: 4 kernel_size: 3 group: 2 pad: 1"),
        lambda x: reference.convolution(x, GROUPED, B, pad=(1, 1), group=2),
        weights=(GROUPED, B),
    ),
    Case(
        "ConvolutionDepthwise",
        conv("num_output: 6 kernel_size: 3 stride: 2"),
        lambda x: reference.convolution(x, DEPTHWISE, SIX, stride=(2, 2), group=6),
        weights=(DEPTHWISE, SIX),
    ),
    Case(
        "DepthwiseConvolution",
        conv("num_output: 6 kernel_size: 3 group: 6 bias_term: false"),
        lambda x: reference.convolution(x, DEPTHWISE, np.zeros(6), group=6),
        weights=(DEPTHWISE,),
    ),
    Case(
        "Deconvolution",
        conv("num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: 2"),
        lambda x: reference.deconvolution(x, TRANSPOSED, B, stride=2, pad=1, group=2),
        weights=(TRANSPOSED, B),
    ),
    Case(
        "InnerProduct",
        "inner_product_param { num_output: 5 }",
        lambda x: x.reshape(2, -1).astype(float) @ FULL.T + B.repeat(2)[:5],
        weights=(FULL, B.repeat(2)[:5]),
    ),
    Case(
        "InnerProduct",
        "inner_product_param { num_output: 5 axis: 2 bias_term: false transpose: true }",
        lambda x: x.reshape(2, 6, 56).astype(float) @ SLICED.T,
        weights=(np.ascontiguousarray(SLICED.T),),
    ),
    *(
        Case(
            "Pooling",
            pool(f"pool: {kind} kernel_size: {k} stride: {s} pad: {p} {rounding}"),
            lambda x, a=(kind, k, s, p), r=rounding: reference.pooling(x, *a, floor=bool(r)),
        )
        for kind in ("MAX", "AVE")
        for k, s, p, rounding in (
            (3, 2, 0, ""), (3, 2, 1, ""), (2, 2, 1, ""), (5, 4, 2, ""),
            (3, 2, 0, "round_mode: FLOOR"),            (3, 1, 1, ""), (2, 3, 0, ""),
        )
    ),
    Case("Pooling", pool("pool: AVE global_pooling: true"),
         lambda x: x.mean(axis=(2, 3), keepdims=True, dtype=float)),
    Case("Pooling", pool("global_pooling: true"), lambda x: x.max(axis=(2, 3), keepdims=True)),
    Case("LRN", "lrn_param { local_size: 3 alpha: 0.7 beta: 0.6 k: 2 }",
         lambda x: reference.lrn_across(x, 3, 0.7, 0.6, 2)),
    Case("LRN", "", lambda x: reference.lrn_across(x, 5, 1.0, 0.75, 1)),
    Case("LRN", "lrn_param { local_size: 3 alpha: 0.7 norm_region: WITHIN_CHANNEL }",
         lambda x: reference.lrn_within(x, 3, 0.7, 0.75)),
    Case("BatchNorm", "batch_norm_param { eps: 0.01 }",
         lambda x: reference.batch_norm(x, SIX, POSITIVE, 2.5, 0.01),
         weights=(SIX, POSITIVE, FACTOR)),
    Case("BatchNorm", "", lambda x: reference.batch_norm(x, SIX, POSITIVE, 0.0),
         weights=(SIX, POSITIVE, 0 * FACTOR)),
    Case("Scale", "scale_param { bias_term: true }",
         lambda x: x * _channels(SIX) + _channels(SEVEN), weights=(SIX, SEVEN)),
    Case("Scale", "scale_param { axis: 2 num_axes: -1 }",
         lambda x: x * Y[0, 0], weights=(Y[0, 0],)),
    Case("Scale", "scale_param { axis: 0 }", lambda x, a: x * a.reshape(2, 6, 1, 1),
         inputs=(X, normal(2, 6))),
    Case("Scale", "scale_param { axis: 0 bias_term: true }",
         lambda x, a: x * a.reshape(2, 6, 1, 1) + Y[:, :, :1, :1], inputs=(X, normal(2, 6)),
         weights=(Y[:, :, 0, 0],)),
    Case("Bias", "", lambda x: x + _channels(SIX), weights=(SIX,)),
    Case("MVN", "", lambda x: reference.mvn(x, (2, 3))),
    Case("MVN", "mvn_param { across_channels: true eps: 0.5 }",
         lambda x: reference.mvn(x, (1, 2, 3), 0.5)),
    Case("MVN", "mvn_param { normalize_variance: false }",
         lambda x: x - x.mean(axis=(2, 3), keepdims=True, dtype=float)),
    Case("Normalize", "norm_param { across_spatial: false channel_shared: false eps: 0.1 "
         "scale_filler { type: 'constant' value: 20 } }",
         lambda x: x / np.sqrt((x**2).sum(1, keepdims=True) + 0.1) * _channels(SIX),
         weights=(SIX,)),
    Case("Normalize", "", lambda x: x / np.sqrt((x**2).sum((1, 2, 3), keepdims=True)) * 2.5,
         weights=(FACTOR,)),
    Case("Softmax", "", lambda x: reference.softmax(x, 1)),
    Case("Softmax", "softmax_param { axis: -1 engine: CAFFE }", lambda x: reference.softmax(x, 3)),
    Case("ReLU", "", lambda x: np.maximum(x, 0)),
    Case("ReLU", "relu_param { negative_slope: 0.1 }", lambda x: np.where(x > 0, x, 0.1 * x)),
    Case("ReLU6", "", lambda x: np.clip(x, 0, 6)),
    Case("ReLU6", "relu_param { negative_slope: 2 }",
         lambda x: np.minimum(np.where(x > 0, x, 2 * x), 6)),
    Case("Clip", "clip_param { min: -.5 max: 1e-1 }", lambda x: np.clip(x, -0.5, 0.1)),
    Case("PReLU", "", lambda x: np.where(x > 0, x, _channels(SIX) * x), weights=(SIX,)),
    Case("PReLU", "prelu_param { channel_shared: true }",
         lambda x: np.where(x > 0, x, 2.5 * x), weights=(FACTOR,)),
    Case("ELU", "elu_param { alpha: 0.5 }", lambda x: np.where(x > 0, x, 0.5 * np.expm1(x))),
    Case("Sigmoid", "", lambda x: 1 / (1 + np.exp(-x))),
    Case("TanH", "tanh_param { engine: CUDNN }", np.tanh),
    Case("AbsVal", "", np.abs),
    Case("BNLL", "", lambda x: np.log1p(np.exp(x))),
    Case("Swish", "swish_param { beta: 2 }", lambda x: x / (1 + np.exp(-2 * x))),
    Case("Power", "power_param { power: 2 scale: 0.5 shift: 3 }", lambda x: (3 + 0.5 * x) ** 2),
    Case("Power", "", lambda x: x),
    Case("Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }", lambda x: 2 ** (1 + 0.5 * x)),
    Case("Exp", "", np.exp),
    Case("Log", "log_param { base: 10 shift: 9 }", lambda x: np.log10(x + 9)),
    Case("Log", "log_param { scale: 0.1 shift: 1 }", lambda x: np.log(1 + 0.1 * x)),
    Case("Threshold", "threshold_param { threshold: 0.25 }", lambda x: x > 0.25),
    Case("Eltwise", "", lambda x, y: x + y, inputs=(X, Y)),
    Case("Eltwise", "eltwise_param { coeff: 1 coeff: -2 coeff: 0.5 }",
         lambda x, y, z: x - 2 * y + 0.5 * z, inputs=(X, Y, Z)),
    Case("Eltwise", "eltwise_param { operation: PROD }", lambda x, y: x * y, inputs=(X, Y)),
    Case("Eltwise", "eltwise_param { operation: MAX }",
         lambda *a: np.maximum.reduce(a), inputs=(X, Y, Z)),
    Case("Axpy", "", lambda a, x, y: a * x + y, inputs=(normal(2, 6, 1, 1), X, Y)),
    Case("Axpy", "", lambda a, x, y: a[:, :, None, None] * x + y, inputs=(normal(2, 6), X, Y)),
    *(
        Case("Reduction", f"reduction_param {{ operation: {name} axis: 1 coeff: {factor} }}",
             lambda x, f=function, c=factor: c * f(x.reshape(2, -1).astype(float)))
        for name, function, factor in (
            ("SUM", lambda x: x.sum(1), 1), ("ASUM", lambda x: np.abs(x).sum(1), 2),
            ("SUMSQ", lambda x: (x**2).sum(1), 1), ("MEAN", lambda x: x.mean(1), 0.5),
        )
    ),
    Case("ArgMax", "argmax_param { axis: 1 }", lambda x: x.argmax(1)[:, None]),
    Case("ArgMax", "", lambda x: x.reshape(2, -1).argmax(1).reshape(2, 1, 1, 1)),
    Case("Concat", "", lambda x, y: np.concatenate([x, y], 1), inputs=(X, normal(2, 3, 7, 8))),
    Case("Concat", "concat_param { axis: -2 }", lambda x, y: np.concatenate([x, y], 2),
         inputs=(X, normal(2, 6, 2, 8))),
    Case("Slice", "", lambda x: np.split(x, 3, 1), outputs=3),
    Case("Slice", "slice_param { slice_dim: 1 slice_point: 1 slice_point: 4 }",
         lambda x: np.split(x, [1, 4], 1), outputs=3),
    Case("Split", "", lambda x: (x, x), outputs=2),
    Case("Dropout", "dropout_param { dropout_ratio: 0.5 }", lambda x: x),
    Case("Flatten", "", lambda x: x.reshape(2, -1)),
    Case("Flatten", "flatten_param { axis: 1 end_axis: 2 }", lambda x: x.reshape(2, 42, 8)),
    Case("Reshape", "reshape_param { shape { dim: 0 dim: 3 dim: -1 dim: 8 } }",
         lambda x: x.reshape(2, 3, 14, 8)),
    Case("Reshape", "reshape_param { shape { dim: 4 dim: 2 } axis: 3 num_axes: 1 }",
         lambda x: x.reshape(2, 6, 7, 4, 2)),
    Case("Crop", "crop_param { offset: 1 offset: 2 }", lambda x, y: x[:, :, 1:5, 2:7],
         inputs=(X, normal(2, 6, 4, 5))),
    Case("Crop", "crop_param { axis: 1 offset: 1 }", lambda x, y: x[:, 1:5, 1:4, 1:6],
         inputs=(X, normal(2, 4, 3, 5))),
    Case("Tile", "tile_param { axis: 2 tiles: 3 }", lambda x: np.tile(x, (1, 1, 3, 1))),
    Case("Permute", "permute_param { order: 0 order: 2 order: 3 }",
         lambda x: x.transpose(0, 2, 3, 1)),
    Case("ShuffleChannel", "shuffle_channel_param { group: 3 }",
         lambda x: x.reshape(2, 3, 2, 7, 8).swapaxes(1, 2).reshape(x.shape)),
    Case("Softmax", "", lambda x: reference.softmax(x, 1), inputs=(ROWS,)),
    Case("PReLU", "prelu_param { channel_shared: false }",
         lambda x: np.where(x > 0, x, SLICED[0, :10] * x), inputs=(ROWS,),
         weights=(SLICED[0, :10],)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind} {case.parameters}"[:60])
def test_it_computes_what_caffe_does(case: Case, tmp_path: Path) -> None:
    if case.kind == "Pooling" and onnxruntime.__version__.startswith("1.20."):
        pytest.skip("onnxruntime 1.20 rounds sizes up in a way of its own")
    fed = {f"in{at}": array for at, array in enumerate(case.inputs)}
    tops = [f"out{at}" for at in range(case.outputs)]
    text = net(
        layer("tested", case.kind, " ".join(fed), " ".join(tops), case.parameters),
        **{name: array.shape for name, array in fed.items()},
    )
    outputs = answered(tmp_path, text, {"tested": case.weights} if case.weights else None, **fed)
    wanted = case.expected(*case.inputs)
    if isinstance(wanted, np.ndarray):
        wanted = [wanted]
    assert list(outputs) == tops
    for got, want in zip(outputs.values(), wanted, strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want.astype(float), rtol=2e-4, atol=2e-5)


def test_every_layer_type_is_tried() -> None:
    assert {case.kind for case in CASES} == set(TRANSLATORS)
