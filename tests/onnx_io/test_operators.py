"""Every translator, in each form its operator has had since opset 7, against onnxruntime."""

from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from hexsim.datasheets.operators import Operators
from hexsim.graph.ir import Layer
from hexsim.layers import (
    ArgExtremum,
    BatchNorm,
    Concat,
    Convolution,
    DepthToSpace,
    Elementwise,
    FullyConnected,
    Gather,
    LocalResponseNorm,
    MatMul,
    Neuron,
    Normalization,
    Opaque,
    Pad,
    Permute,
    Pooling,
    Prelu,
    Recurrent,
    Reduce,
    Reshape,
    Softmax,
    SpaceToDepth,
    StridedSlice,
    Tile,
)
from hexsim.layers.support import refusal
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.read.reader import read
from tests.conftest import run_onnx

IMAGE = {"x": (2, 6, 9, 7)}
MATRIX = {"x": (3, 10)}
BLOCKS = {"x": (2, 8, 3, 6)}
rng = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def node(op: str, *inputs: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(op, ["x", *inputs], ["y"], name="n", **attributes)


CONV = {"w": normal(4, 6, 3, 2), "b": normal(4)}
POOL = {"kernel_shape": [3, 2], "strides": [2, 2]}
NORM = {"g": normal(6), "b": normal(6), "m": normal(6), "v": np.abs(normal(6)) + 0.1}

SCATTER = helper.make_node("ScatterND", ["x", "i", "u"], ["y"], name="n")


def _assigned(sizes: tuple[int, ...], lows: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The positions of a block of x, of those sizes along its first axes."""
    grid = np.moveaxis(np.indices(sizes), 0, -1)
    return {"i": grid + np.array(lows)}


def sequences() -> dict[str, tuple[type[Layer], onnx.NodeProto, dict, dict, int]]:
    """Every cell in every direction, with and without bias and initial states."""
    cases = {}
    for operator, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, number in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            late = {"linear_before_reset": 1} if operator == "GRU" and number == 2 else {}
            weights = {
                "w": normal(number, gates * 4, 3),
                "r": normal(number, gates * 4, 4),
                "b": normal(number, gates * 8),
                "h": normal(number, 2, 4),
                "c": normal(number, 2, 4),
            }
            given = ["w", "r", *(["b", "", "h"] if direction != "reverse" else [])]
            given += ["c"] if operator == "LSTM" and number == 2 else []
            proto = node(operator, *given, hidden_size=4, direction=direction, **late)
            named = {name: weights[name] for name in given if name}
            case = (Recurrent, proto, {"x": (5, 2, 3)}, named, 14)
            cases[f"{operator.lower()} {direction}"] = case
    return cases


CASES: dict[str, tuple[type[Layer], onnx.NodeProto, dict, dict, int]] = {
    # name: expected layer type, node, inputs, weights, opset
    "conv": (Convolution, node("Conv", "w", "b", strides=[2, 1]), IMAGE, CONV, 17),
    "conv without bias": (Convolution, node("Conv", "w"), IMAGE, {"w": CONV["w"]}, 11),
    "conv asymmetric pads": (Convolution, node("Conv", "w", pads=[0, 1, 2, 0]), IMAGE, CONV, 7),
    "conv dilated": (Convolution, node("Conv", "w", dilations=[2, 3]), IMAGE, CONV, 17),
    "conv same upper": (
        Convolution,
        node("Conv", "w", auto_pad="SAME_UPPER", strides=[2, 2]),
        IMAGE,
        CONV,
        8,
    ),
    "conv same lower": (
        Convolution,
        node("Conv", "w", auto_pad="SAME_LOWER", strides=[1, 2]),
        IMAGE,
        CONV,
        17,
    ),
    "conv valid": (Convolution, node("Conv", "w", auto_pad="VALID"), IMAGE, CONV, 17),
    "conv grouped": (
        Convolution,
        node("Conv", "w", group=3),
        IMAGE,
        {"w": normal(9, 2, 3, 3)},
        17,
    ),
    "conv depthwise": (
        Convolution,
        node("Conv", "w", group=6, pads=[1, 1, 1, 1]),
        IMAGE,
        {"w": normal(6, 1, 3, 3)},
        17,
    ),
    "conv 1-D": (Convolution, node("Conv", "w"), {"x": (1, 3, 8)}, {"w": normal(2, 3, 3)}, 17),
    "conv 3-D": (
        Convolution,
        node("Conv", "w"),
        {"x": (1, 2, 4, 4, 4)},
        {"w": normal(2, 2, 3, 3, 3)},
        17,
    ),
    "layer norm": (
        Normalization,
        node("LayerNormalization", "g", "b", epsilon=1e-3),
        IMAGE,
        {"g": normal(7), "b": normal(7)},
        17,
    ),
    "layer norm of channels and all behind": (
        Normalization,
        node("LayerNormalization", "g", axis=1),
        IMAGE,
        {"g": normal(6, 9, 7)},
        17,
    ),
    "layer norm of computed scale": (
        Normalization,
        node("LayerNormalization", "x", "b"),
        MATRIX,
        {"b": normal(10)},
        17,
    ),
    "instance norm": (
        Normalization,
        node("InstanceNormalization", "g", "b", epsilon=1e-3),
        IMAGE,
        {"g": normal(6), "b": normal(6)},
        8,
    ),
    "instance norm of lines": (
        Normalization,
        node("InstanceNormalization", "g", "b"),
        {"x": (2, 3, 11)},
        {"g": normal(3), "b": normal(3)},
        17,
    ),
    "group norm": (
        Normalization,
        node("GroupNormalization", "g", "b", num_groups=3, epsilon=0.01),
        {"x": (2, 6, 5)},
        {"g": normal(6), "b": normal(6)},
        21,
    ),
    "lp norm": (Normalization, node("LpNormalization", axis=1), IMAGE, {}, 17),
    "lp norm of sums": (Opaque, node("LpNormalization", p=1), IMAGE, {}, 17),
    "mean variance norm": (
        Normalization,
        node("MeanVarianceNormalization", axes=[0, 2]),
        IMAGE,
        {},
        13,
    ),
    "rms norm": (
        Normalization,
        node("RMSNormalization", "g", axis=-2),
        IMAGE,
        {"g": normal(9, 7)},
        23,
    ),
    **sequences(),
    "lstm that forgets nothing": (
        Opaque,
        node("LSTM", "w", "r", hidden_size=4, input_forget=1),
        {"x": (5, 2, 3)},
        {"w": normal(1, 16, 3), "r": normal(1, 16, 4)},
        14,
    ),
    "max pool": (Pooling, node("MaxPool", **POOL, pads=[1, 0, 1, 1]), IMAGE, {}, 8),
    "max pool ceil": (Pooling, node("MaxPool", **POOL, ceil_mode=1), IMAGE, {}, 12),
    "max pool dilated": (Pooling, node("MaxPool", **POOL, dilations=[2, 2]), IMAGE, {}, 10),
    "max pool same": (Pooling, node("MaxPool", **POOL, auto_pad="SAME_UPPER"), IMAGE, {}, 17),
    "average pool": (Pooling, node("AveragePool", **POOL, pads=[1, 1, 1, 1]), IMAGE, {}, 7),
    "average pool counts pads": (
        Pooling,
        node("AveragePool", **POOL, pads=[1, 1, 1, 1], count_include_pad=1),
        IMAGE,
        {},
        17,
    ),
    "average pool ceil": (Pooling, node("AveragePool", **POOL, ceil_mode=1), IMAGE, {}, 11),
    "global average": (Pooling, node("GlobalAveragePool"), IMAGE, {}, 17),
    "global max": (Pooling, node("GlobalMaxPool"), IMAGE, {}, 17),
    "mean of image": (Pooling, node("ReduceMean", axes=[2, 3], keepdims=1), IMAGE, {}, 13),
    "mean of image 18": (
        Pooling,
        node("ReduceMean", "axes", keepdims=0),
        IMAGE,
        {"axes": [-1, 2]},
        18,
    ),
    "mean of channels": (Reduce, node("ReduceMean", axes=[1]), IMAGE, {}, 13),
    "mean of everything": (Reduce, node("ReduceMean", keepdims=0), IMAGE, {}, 7),
    "sum of rows": (Reduce, node("ReduceSum", "a", keepdims=0), IMAGE, {"a": [-2]}, 13),
    "sum attributes": (Reduce, node("ReduceSum", axes=[0, 3]), IMAGE, {}, 11),
    "sum of nothing": (
        Reshape,
        node("ReduceSum", "a", noop_with_empty_axes=1),
        IMAGE,
        {"a": np.zeros(0, np.int64)},
        13,
    ),
    "maximum of channels": (Reduce, node("ReduceMax", "a"), IMAGE, {"a": [1]}, 18),
    "minimum of an image": (Reduce, node("ReduceMin", axes=[2, 3], keepdims=0), IMAGE, {}, 12),
    "sum of squares": (Reduce, node("ReduceSumSquare", axes=[-1]), MATRIX, {}, 11),
    "product along an axis": (Opaque, node("ReduceProd", axes=[1]), IMAGE, {}, 13),
    "relu": (Neuron, node("Relu"), IMAGE, {}, 7),
    "clip attributes": (Neuron, node("Clip", min=-0.5, max=0.5), IMAGE, {}, 10),
    "clip no bounds": (Neuron, node("Clip"), IMAGE, {}, 10),
    "clip inputs": (Neuron, node("Clip", "lo", "hi"), IMAGE, {"lo": -0.5, "hi": 0.25}, 11),
    "clip upper only": (Neuron, node("Clip", "", "hi"), IMAGE, {"hi": 0.25}, 13),
    "clip infinite": (Neuron, node("Clip", "lo", "hi"), IMAGE, {"lo": 0.0, "hi": np.inf}, 13),
    "leaky relu": (Neuron, node("LeakyRelu", alpha=0.2), IMAGE, {}, 17),
    "leaky relu default": (Neuron, node("LeakyRelu"), MATRIX, {}, 7),
    "elu": (Neuron, node("Elu", alpha=0.7), IMAGE, {}, 17),
    "sigmoid": (Neuron, node("Sigmoid"), IMAGE, {}, 17),
    "tanh": (Neuron, node("Tanh"), MATRIX, {}, 17),
    "hard sigmoid": (Neuron, node("HardSigmoid", alpha=0.3, beta=0.4), IMAGE, {}, 17),
    "hard sigmoid default": (Neuron, node("HardSigmoid"), IMAGE, {}, 17),
    "hard swish": (Neuron, node("HardSwish"), IMAGE, {}, 14),
    "abs": (Neuron, node("Abs"), IMAGE, {}, 13),
    "ceil": (Neuron, node("Ceil"), IMAGE, {}, 13),
    "cos": (Neuron, node("Cos"), IMAGE, {}, 7),
    "erf": (Neuron, node("Erf"), IMAGE, {}, 13),
    "exp": (Neuron, node("Exp"), IMAGE, {}, 7),
    "floor": (Neuron, node("Floor"), IMAGE, {}, 13),
    "gelu": (Neuron, node("Gelu"), IMAGE, {}, 20),
    "gelu tanh": (Neuron, node("Gelu", approximate="tanh"), IMAGE, {}, 20),
    "mish": (Neuron, node("Mish"), IMAGE, {}, 18),
    "neg": (Neuron, node("Neg"), MATRIX, {}, 13),
    "pow": (Neuron, node("Pow", "c"), IMAGE, {"c": 3.0}, 13),
    "pow 1": (Neuron, node("Pow", "c"), IMAGE, {"c": np.ones(1)}, 13),
    "pow 2": (Neuron, node("Pow", "c"), IMAGE, {"c": 2}, 15),
    "pow -1": (Neuron, node("Pow", "c"), IMAGE, {"c": -1.0}, 7),
    "pow by channel": (Opaque, node("Pow", "c"), IMAGE, {"c": [[[1]], [[2]], [[3]]] * 2}, 13),
    "pow that adds an axis": (Opaque, node("Pow", "c"), MATRIX, {"c": [[[2]]]}, 13),
    "reciprocal": (Neuron, node("Reciprocal"), IMAGE, {}, 13),
    "round": (Neuron, node("Round"), IMAGE, {}, 11),
    "sin": (Neuron, node("Sin"), IMAGE, {}, 7),
    "softplus": (Neuron, node("Softplus"), IMAGE, {}, 7),
    "softsign": (Neuron, node("Softsign"), IMAGE, {}, 7),
    "prelu": (Prelu, node("PRelu", "s"), IMAGE, {"s": normal(6, 1, 1)}, 17),
    "prelu one slope": (Prelu, node("PRelu", "s"), IMAGE, {"s": normal(1)}, 9),
    "prelu by column": (Opaque, node("PRelu", "s"), IMAGE, {"s": normal(7)}, 17),
    "batch norm": (BatchNorm, node("BatchNormalization", *"gbmv"), IMAGE, NORM, 7),
    "batch norm epsilon": (
        BatchNorm,
        node("BatchNormalization", *"gbmv", epsilon=0.1),
        IMAGE,
        NORM,
        15,
    ),
    "batch norm of sequence": (
        BatchNorm,
        node("BatchNormalization", *"gbmv"),
        {"x": (2, 6, 5)},
        NORM,
        15,
    ),
    "lrn": (
        LocalResponseNorm,
        node("LRN", size=3, alpha=0.2, beta=0.6, bias=1.5),
        IMAGE,
        {},
        7,
    ),
    "softmax": (Softmax, node("Softmax", axis=-1), IMAGE, {}, 13),
    "softmax of channels": (Softmax, node("Softmax", axis=1), IMAGE, {}, 13),
    "softmax flattened": (Softmax, node("Softmax"), IMAGE, {}, 12),
    "softmax flattened from 2": (Softmax, node("Softmax", axis=2), IMAGE, {}, 7),
    "softmax of matrix": (Softmax, node("Softmax"), MATRIX, {}, 17),
    "log softmax": (Opaque, node("LogSoftmax", axis=1), IMAGE, {}, 17),
    "gemm": (
        FullyConnected,
        node("Gemm", "w", "b"),
        MATRIX,
        {"w": normal(10, 4), "b": normal(4)},
        7,
    ),
    "gemm transposed": (
        FullyConnected,
        node("Gemm", "w", "b", transB=1, alpha=0.5, beta=2.0),
        MATRIX,
        {"w": normal(4, 10), "b": normal(1, 4)},
        13,
    ),
    "gemm without bias": (FullyConnected, node("Gemm", "w"), MATRIX, {"w": normal(10, 4)}, 11),
    "gemm scalar bias": (
        FullyConnected,
        node("Gemm", "w", "b"),
        MATRIX,
        {"w": normal(10, 4), "b": normal(1)},
        13,
    ),
    "gemm bias by row": (
        FullyConnected,
        node("Gemm", "w", "b"),
        MATRIX,
        {"w": normal(10, 4), "b": normal(3, 1)},
        13,
    ),
    "gemm transposed left": (
        FullyConnected,
        node("Gemm", "w", transA=1),
        MATRIX,
        {"w": normal(3, 4)},
        13,
    ),
    "gemm computed": (
        MatMul,
        node("Gemm", "x", "b", transB=1, alpha=0.5, beta=2.0),
        MATRIX,
        {"b": normal(3, 3)},
        13,
    ),
    "gemm of its transpose": (
        MatMul,
        node("Gemm", "x", "b", transA=1),
        MATRIX,
        {"b": normal(10)},
        13,
    ),
    "matmul": (FullyConnected, node("MatMul", "w"), MATRIX, {"w": normal(10, 4)}, 9),
    "matmul of image": (FullyConnected, node("MatMul", "w"), IMAGE, {"w": normal(7, 4)}, 13),
    "matmul of a constant": (
        MatMul,
        helper.make_node("MatMul", ["w", "x"], ["y"], name="n"),
        IMAGE,
        {"w": normal(5, 9)},
        13,
    ),
    "matmul by a vector": (MatMul, node("MatMul", "v"), IMAGE, {"v": normal(7)}, 13),
    "matmul of a vector": (
        MatMul,
        helper.make_node("MatMul", ["v", "x"], ["y"], name="n"),
        MATRIX,
        {"v": normal(3)},
        13,
    ),
    "matmul stacked": (MatMul, node("MatMul", "w"), IMAGE, {"w": normal(6, 7, 2)}, 13),
    "add": (Elementwise, node("Add", "x"), IMAGE, {}, 17),
    "add constant": (Elementwise, node("Add", "c"), IMAGE, {"c": normal(6, 1, 1)}, 7),
    "add scalar": (Elementwise, node("Add", "c"), IMAGE, {"c": 1.5}, 13),
    "add larger constant": (Elementwise, node("Add", "c"), MATRIX, {"c": normal(2, 3, 1)}, 13),
    "mul": (Elementwise, node("Mul", "c"), IMAGE, {"c": normal(9, 1)}, 14),
    "sub": (Elementwise, node("Sub", "c"), IMAGE, {"c": normal(1, 6, 1, 7)}, 14),
    "max": (Elementwise, node("Max", "c", "x"), IMAGE, {"c": normal(6, 9, 7)}, 13),
    "min": (Elementwise, node("Min", "c"), IMAGE, {"c": 0.25}, 8),
    "sum of three": (Elementwise, node("Sum", "x", "c"), IMAGE, {"c": normal(7)}, 8),
    "sum of one": (Reshape, node("Sum"), IMAGE, {}, 13),
    "divide by constant": (Elementwise, node("Div", "c"), IMAGE, {"c": normal(6, 1, 1)}, 14),
    "divide by itself": (Elementwise, node("Div", "x"), IMAGE, {}, 14),
    "divide a constant": (
        Elementwise,
        helper.make_node("Div", ["c", "x"], ["y"], name="n"),
        IMAGE,
        {"c": normal(6, 1, 1)},
        14,
    ),
    "concat channels": (Concat, node("Concat", "x", axis=1), IMAGE, {}, 7),
    "concat rows": (Concat, node("Concat", "c", axis=-2), IMAGE, {"c": normal(2, 6, 3, 7)}, 13),
    "pad attributes": (
        Pad,
        node("Pad", pads=[0, 1, 2, 0, 1, 0, 0, 3], value=0.5),
        IMAGE,
        {},
        10,
    ),
    "pad": (Pad, node("Pad", "p", "v"), IMAGE, {"p": [0, 0, 2, 0, 1, 0, 0, 3], "v": -1.5}, 13),
    "pad axes": (Pad, node("Pad", "p", "", "a"), IMAGE, {"p": [1, 2, 3, 4], "a": [-1, 1]}, 18),
    "pad edge": (Pad, node("Pad", "p", mode="edge"), IMAGE, {"p": [0, 0, 2, 0] * 2}, 13),
    "pad wrapped": (Pad, node("Pad", "p", mode="wrap"), IMAGE, {"p": [0, 0, 2, 0] * 2}, 19),
    "pad edge axes": (
        Pad,
        node("Pad", "p", "", "a", mode="reflect"),
        IMAGE,
        {"p": [1, 2, 3, 4], "a": [-1, 1]},
        18,
    ),
    "pad that cuts": (Pad, node("Pad", "p"), IMAGE, {"p": [0, -1, 0, 1, 0, 0, 3, -2]}, 13),
    "pad that cuts an edge": (
        Opaque,
        node("Pad", "p", mode="edge"),
        IMAGE,
        {"p": [0, 0, 0, 0, 0, 0, 0, -2]},
        13,
    ),
    "argmax": (ArgExtremum, node("ArgMax", axis=1), IMAGE, {}, 13),
    "argmin": (ArgExtremum, node("ArgMin", axis=-1, keepdims=0), IMAGE, {}, 7),
    "argmax of the last": (Opaque, node("ArgMax", select_last_index=1), IMAGE, {}, 13),
    "assign to rows": (Concat, SCATTER, IMAGE, _assigned((2, 6, 3), (0, 0, 4)), 13),
    "assign to the first": (Concat, SCATTER, IMAGE, _assigned((1,), (0,)), 11),
    "assign to the last": (Concat, SCATTER, IMAGE, _assigned((2, 2), (0, 4)), 16),
    "assign everything": (Reshape, SCATTER, IMAGE, _assigned((2, 6, 9, 7), (0, 0, 0, 0)), 13),
    "assign to a corner": (Opaque, SCATTER, IMAGE, _assigned((1, 3), (0, 2)), 13),
    "assign out of order": (
        Opaque,
        SCATTER,
        IMAGE,
        {"i": np.array([[1], [0]])},
        13,
    ),
    "add to rows": (
        Opaque,
        helper.make_node("ScatterND", ["x", "i", "u"], ["y"], name="n", reduction="add"),
        IMAGE,
        _assigned((1,), (1,)),
        16,
    ),
    "tile": (Tile, node("Tile", "r"), IMAGE, {"r": [1, 2, 1, 3]}, 13),
    "expand": (Tile, node("Expand", "s"), {"x": (2, 1, 9, 1)}, {"s": [3, 1, 6, 1, 4]}, 13),
    "expand to less": (Tile, node("Expand", "s"), {"x": (2, 1, 9, 1)}, {"s": [5]}, 8),
    "gather": (Gather, node("Gather", "i", axis=1), IMAGE, {"i": [5, 0, -3]}, 13),
    "gather rows of rows": (
        Gather,
        node("Gather", "i", axis=2),
        IMAGE,
        {"i": [[5, 0], [1, 1]]},
        11,
    ),
    "gather evenly": (StridedSlice, node("Gather", "i", axis=3), IMAGE, {"i": [1, 3, 5]}, 13),
    "gather one": (StridedSlice, node("Gather", "i", axis=1), IMAGE, {"i": 2}, 13),
    "gather all": (StridedSlice, node("Gather", "i"), IMAGE, {"i": [0, 1]}, 7),
    "depth to space": (DepthToSpace, node("DepthToSpace", blocksize=2), BLOCKS, {}, 7),
    "pixel shuffle": (
        DepthToSpace,
        node("DepthToSpace", blocksize=2, mode="CRD"),
        BLOCKS,
        {},
        13,
    ),
    "space to depth": (SpaceToDepth, node("SpaceToDepth", blocksize=3), BLOCKS, {}, 13),
    "slice attributes": (
        StridedSlice,
        node("Slice", axes=[1, 3], starts=[1, -3], ends=[5, 100]),
        IMAGE,
        {},
        9,
    ),
    "slice": (
        StridedSlice,
        node("Slice", "a", "b", "c", "d"),
        IMAGE,
        {"a": [0, 1], "b": [-1, 9], "c": [-3, 2], "d": [2, 3]},
        13,
    ),
    "slice first axes": (
        StridedSlice,
        node("Slice", "a", "b"),
        IMAGE,
        {"a": [0, 2], "b": [1, 4]},
        17,
    ),
    "slice backwards": (
        Gather,
        node("Slice", "a", "b", "c", "d"),
        IMAGE,
        {"a": [-1], "b": [-100], "c": [1], "d": [-1]},
        13,
    ),
    "slice both ways": (
        Gather,
        node("Slice", "a", "b", "c", "d"),
        IMAGE,
        {"a": [-1, 1, 6], "b": [-100, 4, 0], "c": [1, 2, 3], "d": [-2, 1, -3]},
        13,
    ),
    "split with one output": (StridedSlice, node("Split", axis=1), IMAGE, {}, 11),
    "transpose": (Permute, node("Transpose", perm=[0, 1, 3, 2]), IMAGE, {}, 13),
    "transpose reversed": (Permute, node("Transpose"), IMAGE, {}, 7),
    "transpose to last": (Permute, node("Transpose", perm=[0, 2, 3, 1]), IMAGE, {}, 7),
    "reshape": (Reshape, node("Reshape", "s"), IMAGE, {"s": [0, -1]}, 7),
    "reshape split": (Reshape, node("Reshape", "s"), IMAGE, {"s": [2, 2, 3, 9, 7]}, 13),
    "reshape mixed": (Reshape, node("Reshape", "s"), IMAGE, {"s": [9, 7, 2, 6]}, 14),
    "flatten": (Reshape, node("Flatten"), IMAGE, {}, 9),
    "flatten all": (Reshape, node("Flatten", axis=0), IMAGE, {}, 13),
    "flatten last": (Reshape, node("Flatten", axis=-1), IMAGE, {}, 13),
    "squeeze": (Reshape, node("Squeeze"), {"x": (1, 5, 1, 3)}, {}, 11),
    "squeeze attribute": (Reshape, node("Squeeze", axes=[2]), {"x": (1, 5, 1, 3)}, {}, 11),
    "squeeze input": (Reshape, node("Squeeze", "a"), {"x": (1, 5, 1, 3)}, {"a": [-2]}, 13),
    "unsqueeze attribute": (Reshape, node("Unsqueeze", axes=[0, 2]), MATRIX, {}, 11),
    "unsqueeze input": (Reshape, node("Unsqueeze", "a"), MATRIX, {"a": [-1, -2]}, 13),
    "identity": (Reshape, node("Identity"), IMAGE, {}, 13),
    "dropout": (Reshape, node("Dropout", ratio=0.4), IMAGE, {}, 10),
    "dropout input": (Reshape, node("Dropout", "r"), IMAGE, {"r": 0.4}, 13),
    "cast to float": (Reshape, node("Cast", to=onnx.TensorProto.FLOAT), IMAGE, {}, 13),
    "cast to double": (Opaque, node("Cast", to=onnx.TensorProto.DOUBLE), IMAGE, {}, 13),
    "operator without layer": (Opaque, node("Atan"), IMAGE, {}, 13),
}


@pytest.mark.parametrize("case", CASES)
def test_operator(
    case: str, onnx_model: Callable[..., onnx.ModelProto], agree: Callable[..., object]
) -> None:
    expected, proto, inputs, weights, opset = CASES[case]
    if opset > onnx.defs.onnx_opset_version():
        pytest.skip(f"the installed onnx does not know opset {opset}")
    model = onnx_model([proto], inputs, ["y"], weights, opset)
    if proto.op_type == "ScatterND":  # what is written: parts of x, in the shape it wants
        size, shape = weights["i"][..., 0].size, weights["i"].shape
        wanted = np.array([*shape[:-1], *inputs["x"][shape[-1] :]])
        nodes = [
            helper.make_node("Flatten", ["x"], ["flat"], axis=0),
            helper.make_node("Slice", ["flat", "zero", "end", "one"], ["part"]),
            helper.make_node("Reshape", ["part", "wanted"], ["u"]),
            proto,
        ]
        more = {"zero": [0], "end": [int(np.prod(wanted))], "one": [1], "wanted": wanted}
        model = onnx_model(nodes, inputs, ["y"], {**weights, **more}, opset)
        assert size == np.prod(shape[:-1])
    if proto.op_type in ("ArgMax", "ArgMin"):
        model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    if case == "cast to double":
        model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    try:
        agreement = agree(model)
    except onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument:
        if case != "layer norm of computed scale":
            raise
        pytest.skip("this onnxruntime takes no such scale (1.20 does not)")
    layers = {layer.name: layer for layer in agreement.read.layers}  # type: ignore[attr-defined]
    assert isinstance(layers["n"], expected)


@pytest.mark.parametrize(
    ("nodes", "weights"),
    [
        ([helper.make_node("Sqrt", ["a"], ["y"], name="n")], {}),
        ([helper.make_node("Log", ["a"], ["y"], name="n")], {}),
        ([helper.make_node("Pow", ["a", "c"], ["y"], name="n")], {"c": 0.5}),
        ([helper.make_node("Pow", ["a", "c"], ["y"], name="n")], {"c": -0.5}),
        ([helper.make_node("Pow", ["a", "c"], ["y"], name="n")], {"c": 1.7}),
    ],
)
def test_functions_of_positive_numbers(
    nodes: list[onnx.NodeProto],
    weights: dict,
    onnx_model: Callable[..., onnx.ModelProto],
    agree: Callable[..., object],
) -> None:
    before = [
        helper.make_node("Abs", ["x"], ["p"]),
        helper.make_node("Add", ["p", "least"], ["a"]),
    ]
    read = agree(onnx_model(before + nodes, IMAGE, ["y"], {**weights, "least": 0.1})).read  # type: ignore[attr-defined]
    assert isinstance(read.layers[-1], Neuron)


def test_functions_of_integers_are_opaque(
    onnx_model: Callable[..., onnx.ModelProto], agree: Callable[..., object]
) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["i"], to=onnx.TensorProto.INT64),
        helper.make_node("Neg", ["i"], ["m"], name="n"),
        helper.make_node("Cast", ["m"], ["y"], to=onnx.TensorProto.FLOAT),
    ]
    read = agree(onnx_model(nodes, IMAGE, ["y"])).read  # type: ignore[attr-defined]
    assert any(isinstance(layer, Opaque) and layer.op_type == "Neg" for layer in read.layers)


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        (
            [
                helper.make_node("MaxPool", ["x"], ["y", "indices"], kernel_shape=[2, 2], name="n"),
                helper.make_node("Cast", ["indices"], ["z"], to=onnx.TensorProto.FLOAT),
            ],
            ["y", "z"],
        ),
        (
            [
                helper.make_node("Dropout", ["x"], ["y", "mask"], name="n"),
                helper.make_node("Cast", ["mask"], ["z"], to=onnx.TensorProto.FLOAT),
            ],
            ["y", "z"],
        ),
    ],
)
def test_second_outputs_that_are_read_make_a_node_opaque(
    nodes: list[onnx.NodeProto],
    outputs: list[str],
    onnx_model: Callable[..., onnx.ModelProto],
    agree: Callable[..., object],
) -> None:
    agreement = agree(onnx_model(nodes, IMAGE, outputs, opset=13))
    assert isinstance(agreement.read.layers[0], Opaque | Permute)  # type: ignore[attr-defined]
    assert any(
        isinstance(layer, Opaque) and layer.name == "n"
        for layer in agreement.read.layers  # type: ignore[attr-defined]
    )


@pytest.mark.parametrize(
    ("attributes", "inputs", "opset", "sizes"),
    [
        ({"axis": 1}, [], 11, [2, 2, 2]),
        ({"axis": -3, "split": [1, 3, 2]}, [], 11, [1, 3, 2]),
        ({"axis": 1}, ["s"], 13, [3, 1, 2]),
        ({"axis": 3, "num_outputs": 3}, [], 18, [3, 3, 1]),
    ],
)
def test_a_split_is_a_slice_for_each_output(
    attributes: dict,
    inputs: list[str],
    opset: int,
    sizes: list[int],
    onnx_model: Callable[..., onnx.ModelProto],
    agree: Callable[..., object],
) -> None:
    names = ["y0", "y1", "y2"]
    proto = helper.make_node("Split", ["x", *inputs], names, name="n", **attributes)
    weights = {"s": sizes} if inputs else {}
    read = agree(onnx_model([proto], IMAGE, names, weights, opset)).read  # type: ignore[attr-defined]
    assert [layer.name for layer in read.layers] == ["n", "n.1", "n.2"]
    assert all(isinstance(layer, StridedSlice) for layer in read.layers)
    axis = attributes["axis"] % 4
    assert [read.tensors[name].source_shape[axis] for name in names] == sizes


def test_weights_that_vary_make_a_node_opaque(
    onnx_model: Callable[..., onnx.ModelProto], agree: Callable[..., object]
) -> None:
    model = onnx_model([node("Conv", "w")], {**IMAGE, "w": (4, 6, 3, 3)}, ["y"])
    agreement = agree(model)
    assert any(isinstance(layer, Opaque) for layer in agreement.read.layers)  # type: ignore[attr-defined]


def test_a_tensor_of_lower_rank_meets_an_image(
    onnx_model: Callable[..., onnx.ModelProto], agree: Callable[..., object]
) -> None:
    agree(onnx_model([node("Mul", "v")], {**IMAGE, "v": (9, 7)}, ["y"]))
    agree(onnx_model([node("Mul", "v")], {**IMAGE, "v": (7,)}, ["y"]))


@pytest.mark.parametrize("names", [("lo", "hi"), ("", "hi"), ("lo", "one"), ("hi", "lo")])
def test_computed_bounds_are_a_maximum_and_a_minimum(
    names: tuple[str, ...],
    onnx_model: Callable[..., onnx.ModelProto],
    agree: Callable[..., object],
) -> None:
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["hi"], keepdims=0),
        helper.make_node("Neg", ["hi"], ["lo"]),
        helper.make_node("Mul", ["x", "two"], ["twice"]),
        helper.make_node("Clip", ["twice", *names], ["y"]),
    ]
    arrays = {"two": np.float32(2), "one": np.float32(1)}
    agreement = agree(onnx_model(nodes, IMAGE, ["y"], arrays, 13))
    wanted = [kind for kind, name in zip(("max", "min"), names, strict=True) if name]
    kinds = [layer.kind for layer in agreement.read.layers if isinstance(layer, Elementwise)]  # type: ignore[attr-defined]
    assert kinds == ["product", *wanted]


@pytest.mark.parametrize("bounds", [{"lo": np.inf}, {"lo": -np.inf, "hi": -np.inf}])
def test_bounds_that_make_every_number_infinite_are_onnxruntimes(
    bounds: dict[str, float], onnx_model: Callable[..., onnx.ModelProto]
) -> None:
    model = onnx_model([node("Clip", *bounds)], {"x": (1, 4)}, ["y"], bounds, 13)
    network = read(model)
    assert [type(layer) for layer in network.layers] == [Opaque]
    x = np.array([[-1, 0, 2, 3]], np.float32)
    (output,) = FloatEngine(network).run({"x": x}).values()
    np.testing.assert_array_equal(output, run_onnx(model, {"x": x})["y"])
    assert np.abs(output).min() > 3e38, "the largest float stands for no bound"


@pytest.mark.parametrize(
    ("nodes", "shape", "computed"),
    [
        ([node("InstanceNormalization", "g", "b")], (2, 6, 9), False),
        ([node("InstanceNormalization", "g", "b")], (1, 6, 3, 4, 5), False),
        ([node("InstanceNormalization", "g", "b")], (1, 6, 4, 5), True),
        ([node("GroupNormalization", "g", "b", num_groups=3)], (1, 6, 4, 5), False),
        ([node("Gelu", approximate="tanh")], (1, 6, 4, 5), False),
        ([node("Gelu")], (1, 6, 4, 5), False),
    ],
    ids=["1-D", "3-D", "computed", "groups", "gelu by tanh", "gelu"],
)
@pytest.mark.parametrize("family", ["snpe-1", "qnn-2"])
def test_the_dsp_has_these_layers(
    nodes: list[onnx.NodeProto],
    shape: tuple[int, ...],
    computed: bool,
    family: str,
    onnx_model: Callable[..., onnx.ModelProto],
    agree: Callable[..., object],
) -> None:
    """Over channels, which are last, as the engine's library normalises images."""
    arrays = {} if nodes[0].op_type == "Gelu" else {"g": normal(6), "b": normal(6)}
    inputs = {"x": shape, **({name: (6,) for name in arrays} if computed else {})}
    model = onnx_model(nodes, inputs, ["y"], {} if computed else arrays, 21)
    network = agree(model).optimized  # type: ignore[attr-defined]
    release = Operators.of(family)
    assert not any(refusal(layer, "dsp", network, release) for layer in network.layers)
