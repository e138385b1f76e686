"""Random networks with an encoding for each tensor: the float file, its QDQ form, an AIMET file.

They hold what is one node in a file and several layers here: convolutions in one and three
dimensions, feed-forward blocks of transformers on three axes, attention, norms and reductions. The
ranges come from onnxruntime, and are far from those of seeded noise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from hexsim.onnx_io.runtime import load_onnxruntime

Array = npt.NDArray[Any]
Feed = Mapping[str, Array]
_OPSET = 21
_WEIGHT_BITS, _BIAS_BITS = 8, 32


@dataclass(frozen=True)
class CodedNetwork:
    """A float model with the range of each tensor, and inputs by name in the file's axis order.

    `weights` have the axis of their channels, or None for one step; `biases` have the tensor and
    the weight to whose product they are added. Tensors in `left_out` have no encoding.
    """

    model: onnx.ModelProto
    ranges: Mapping[str, tuple[float, float]]
    weights: Mapping[str, int | None]
    biases: Mapping[str, tuple[str, str]]
    inputs: Sequence[Feed]
    bits: int
    left_out: frozenset[str]

    @cached_property
    def constants(self) -> Mapping[str, Array]:
        """The arrays of the model by name."""
        return {item.name: numpy_helper.to_array(item) for item in self.model.graph.initializer}

    @cached_property
    def coded(self) -> Mapping[str, tuple[float, int]]:
        """Scale and zero point, unsigned, of the activations that have an encoding."""
        top, encodings = 2**self.bits - 1, {}
        for name, (low, high) in self.ranges.items():
            if name not in self.left_out:
                low, high = min(low, 0.0), max(high, 0.0)
                scale = float(np.float32(max(high - low, 1e-6) / top))
                encodings[name] = scale, round(-low / scale)
        return encodings

    def steps(self, name: str) -> Array:
        """Return the steps of a weight or bias: one, or one for each channel."""
        if name in self.biases:
            data, weight = self.biases[name]
            return np.asarray(self.coded[data][0] * self.steps(weight), np.float32)
        array, axis = self.constants[name], self.weights[name]
        others = None if axis is None else tuple(n for n in range(array.ndim) if n != axis)
        return np.maximum(np.abs(array).max(axis=others) / 127, 1e-7).astype(np.float32)

    def qdq(self) -> onnx.ModelProto:
        """Return the model with a QuantizeLinear and a DequantizeLinear after each tensor."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        graph = model.graph
        ends = {value.name for value in graph.output}
        arrays, nodes, reads = dict(self.constants), list[onnx.NodeProto](), dict[str, str]()
        for name in (*self.weights, *self.biases):
            nodes.append(self._decoded(name, arrays))
            reads[name] = f"{name}_dq"
        for name in self.coded.keys() & self.constants.keys():
            _, decode = self._pair(name, name, f"{name}_dq", arrays)
            (scale, zero), array = self.coded[name], arrays.pop(name)
            codes = np.clip(np.round(array / scale) + zero, 0, 2**self.bits - 1)
            arrays[f"{name}_q"] = codes.astype(arrays[f"{name}_z"].dtype)
            nodes.append(decode)
        for name in self.coded:
            reads[name] = name if name in ends else f"{name}_dq"
        for value in graph.input:
            nodes += self._pair(value.name, value.name, reads[value.name], arrays)
        for node in graph.node:
            (written,) = node.output
            node.input[:] = [reads.get(name, name) for name in node.input]
            nodes.append(node)
            if written in self.coded:
                node.output[:] = [f"{written}_raw" if written in ends else written]
                nodes += self._pair(written, node.output[0], reads[written], arrays)
        del graph.node[:], graph.initializer[:]
        graph.node.extend(nodes)
        graph.initializer.extend(numpy_helper.from_array(a, name) for name, a in arrays.items())
        return model

    def _pair(
        self, name: str, source: str, result: str, arrays: dict[str, Array]
    ) -> tuple[onnx.NodeProto, onnx.NodeProto]:
        scale, zero = self.coded[name]
        kind = np.uint8 if self.bits == 8 else np.uint16
        arrays |= {f"{name}_s": np.asarray(np.float32(scale)), f"{name}_z": np.asarray(kind(zero))}
        parameters = [f"{name}_s", f"{name}_z"]
        return (
            helper.make_node("QuantizeLinear", [source, *parameters], [f"{name}_q"]),
            helper.make_node("DequantizeLinear", [f"{name}_q", *parameters], [result]),
        )

    def _decoded(self, name: str, arrays: dict[str, Array]) -> onnx.NodeProto:
        """Replace a weight or bias by its codes, and return the node that dequantises them."""
        steps, array = self.steps(name), arrays.pop(name)
        axis = self.weights.get(name, 0 if steps.ndim else None)
        shape = [-1 if n == axis else 1 for n in range(array.ndim)]
        kind, limit = (np.int8, 127) if name in self.weights else (np.int32, 2**31 - 1)
        codes = np.round(array.astype(np.float64) / steps.reshape(shape if steps.ndim else ()))
        arrays |= {
            f"{name}_c": np.clip(codes, -limit, limit).astype(kind),
            f"{name}_s": steps,
            f"{name}_z": np.zeros_like(steps, kind),
        }
        inputs, attributes = (
            [f"{name}_{end}" for end in "csz"],
            {} if axis is None else {"axis": axis},
        )
        return helper.make_node("DequantizeLinear", inputs, [f"{name}_dq"], **attributes)

    def aimet(self) -> dict[str, Any]:
        """Return the same encodings as AIMET writes them, version 1.0.0."""

        def entry(name: str, bits: int, scales: Sequence[float], offset: int | None) -> Any:
            symmetric = offset is None
            return {
                "name": name,
                "enc_type": "PER_TENSOR" if len(scales) == 1 else "PER_CHANNEL",
                "dtype": "INT",
                "bw": bits,
                "is_sym": symmetric,
                "scale": list(scales),
                "offset": [-(2 ** (bits - 1)) if offset is None else offset] * len(scales),
            }

        of_activations = [
            entry(name, self.bits, [scale], -zero) for name, (scale, zero) in self.coded.items()
        ]
        of_parameters = [
            entry(name, bits, [float(step) for step in self.steps(name).reshape(-1)], None)
            for bits, names in ((_WEIGHT_BITS, self.weights), (_BIAS_BITS, self.biases))
            for name in names
        ]
        return {
            "version": "1.0.0",
            "activation_encodings": of_activations,
            "param_encodings": of_parameters,
        }

    def files(self, folder: Path) -> tuple[Path, Path, Path]:
        """Write the float file, its QDQ form and the encodings; return their paths."""
        paths = folder / "float.onnx", folder / "qdq.onnx", folder / "encodings.json"
        onnx.save(self.model, paths[0])
        onnx.save(self.qdq(), paths[1])
        paths[2].write_text(json.dumps(self.aimet()))
        return paths


def answers(model: onnx.ModelProto, inputs: Feed, every: bool = False) -> dict[str, Array]:
    """Return what onnxruntime answers without optimising; with `every`, each tensor."""
    onnxruntime = load_onnxruntime()
    if every:
        shown = onnx.ModelProto()
        shown.CopyFrom(model)
        ends = {value.name for value in model.graph.output}
        names = [name for node in model.graph.node for name in node.output if name not in ends]
        shown.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
        model = shown
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in model.graph.output]
    return dict(zip(names, session.run(names, dict(inputs)), strict=True))


def sqnr_db(want: Array, got: Array) -> float:
    """Return the signal to quantisation noise ratio in decibels."""
    want, got = (np.asarray(array, np.float64).reshape(-1) for array in (want, got))
    noise = np.square(want - got).sum()
    return float(10 * np.log10(max(np.square(want).sum(), 1e-30) / max(noise, 1e-30)))


class _Sketch:
    """Nodes so far; `name` is the tensor that the next block reads, `shape` its shape."""

    def __init__(self, rng: np.random.Generator, shape: Sequence[int]) -> None:
        self.rng, self.shape, self.name = rng, tuple(shape), "x"
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: dict[str, Array] = {}
        self.weights: dict[str, int | None] = {}
        self.biases: dict[str, tuple[str, str]] = {}
        self.inner: set[str] = set()
        self.operands: set[str] = set()

    def op(self, kind: str, inputs: Sequence[str], inner: bool = False, **attributes: Any) -> str:
        """Add a node; an `inner` result belongs to a function of several nodes."""
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], f"n_{name}", **attributes))
        if inner:
            self.inner.add(name)
        return name

    def const(self, array: npt.ArrayLike, dtype: type = np.float32) -> str:
        name = f"k{len(self.arrays)}"
        self.arrays[name] = np.asarray(array, dtype)
        return name

    def weight(self, shape: Sequence[int], fan: int, axis: int | None) -> str:
        name = f"w{len(self.arrays)}"
        self.arrays[name] = (self.rng.standard_normal(shape) * fan**-0.5).astype(np.float32)
        self.weights[name] = axis
        return name

    def operand(self, array: npt.ArrayLike) -> str:
        """Add a constant that is quantised as an operand."""
        name = self.const(array)
        self.operands.add(name)
        return name

    def numbers(self, size: int, gain: float = 5.0) -> str:
        return self.const(self.rng.standard_normal(size) * gain)

    def maybe(self) -> bool:
        return bool(self.rng.integers(2))

    def pick(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    # Blocks of images of one and three dimensions; each reads and sets `name` and `shape`

    def conv(self) -> None:
        """A convolution, with what often follows it."""
        batch, channels, *size = self.shape
        axes, kernel = len(size), self.pick(1, 3) if min(size) >= 3 else 1
        outputs, stride = int(self.pick(4, 8, 12)), int(self.pick(1, 1, 2)) if min(size) > 4 else 1
        groups = int(self.pick(1, 1, 2)) if channels % 2 == 0 else 1
        shape = (outputs, channels // groups, *[kernel] * axes)
        weight = self.weight(shape, channels // groups * kernel**axes, 0)
        inputs, pad = [self.name, weight], kernel // 2
        if self.maybe():
            inputs.append(self.numbers(outputs))
            self.biases[inputs[-1]] = self.name, weight
        pads, strides = [pad] * 2 * axes, [stride] * axes
        self.name = self.op("Conv", inputs, pads=pads, strides=strides, group=groups)
        self.shape = (batch, outputs, *((n + 2 * pad - kernel) // stride + 1 for n in size))
        following = (self.activation, self.pool, self.norm, self.residual, self.scale, self.slices)
        for block in following:
            if self.rng.random() < 0.25:
                block()

    def activation(self) -> None:
        kind = self.pick("Relu", "HardSwish", "LeakyRelu", "Sigmoid", "Tanh")
        if kind in ("Sigmoid", "Tanh"):
            self.name = self.op("Mul", [self.name, self.const(0.05)])
        self.name = self.op(kind, [self.name])

    def pool(self) -> None:
        batch, channels, *size = self.shape
        if min(size) >= 2:
            kind, window = self.pick("MaxPool", "AveragePool"), [2] * len(size)
            self.name = self.op(kind, [self.name], kernel_shape=window, strides=window)
            self.shape = (batch, channels, *(n // 2 for n in size))

    def scale(self) -> None:
        """A factor and a sum for each channel, or a batch norm, which a convolution absorbs."""
        channels, ones = self.shape[1], [1] * (len(self.shape) - 2)
        factors = self.rng.uniform(0.01, 3, channels) * self.rng.choice([-1, 1], channels)
        if self.maybe():
            mean, variance = self.numbers(channels), self.const(self.rng.uniform(0.5, 9, channels))
            inputs = [self.name, self.const(factors), self.numbers(channels), mean, variance]
            self.name = self.op("BatchNormalization", inputs)
        else:
            shape = (1, channels, *ones)
            self.name = self.op("Mul", [self.name, self.operand(factors.reshape(shape))])

    def residual(self) -> None:
        channels, axes = self.shape[1], len(self.shape) - 2
        weight = self.weight((channels, channels, *[1] * axes), channels, 0)
        self.name = self.op("Add", [self.name, self.op("Conv", [self.name, weight])])

    def slices(self) -> None:
        """Two halves of the channels, changed and concatenated."""
        halves = []
        for start in (0, self.shape[1] // 2):
            places = [self.const([n], np.int64) for n in (start, start + self.shape[1] // 2, 1)]
            halves.append(self.op("Slice", [self.name, *places]))
        self.name = self.op("Concat", [halves[0], self.op("LeakyRelu", [halves[1]])], axis=1)

    def norm(self) -> None:
        """A norm over channels, groups or positions."""
        channels, order = self.shape[1], [0, *range(2, len(self.shape)), 1]
        scale, shift = self.const(self.rng.uniform(1, 30, channels)), self.numbers(channels)
        kind = self.pick("InstanceNormalization", "GroupNormalization", "layer")
        if np.prod(self.shape[2:]) < 8:  # few numbers may be alike, and their rounding is enlarged
            kind = "layer"
        if kind != "layer":
            groups = {"num_groups": 2} if kind == "GroupNormalization" else {}
            self.name = self.op(kind, [self.name, scale, shift], **groups)
            return
        self.name = self.op("Transpose", [self.name], perm=order)
        self.layer_norm(scale, shift)
        back = [order.index(axis) for axis in range(len(order))]
        self.name = self.op("Transpose", [self.name], perm=back)

    def layer_norm(self, scale: str = "", shift: str = "") -> None:
        """A layer norm over the last axis, in one node or as exporters wrote it before."""
        if not scale:
            size = self.shape[-1]
            scale, shift = self.const(self.rng.uniform(1, 30, size)), self.numbers(size)
        if self.maybe():
            self.name = self.op("LayerNormalization", [self.name, scale, shift], axis=-1)
            return
        axes, x = self.const([-1], np.int64), self.name
        centred = self.op("Sub", [x, self.op("ReduceMean", [x, axes], inner=True)], inner=True)
        square = self.op("Pow", [centred, self.const(2)], inner=True)
        variance = self.op("ReduceMean", [square, axes], inner=True)
        variance = self.op("Add", [variance, self.const(1e-5)], inner=True)
        normal = self.op("Div", [centred, self.op("Sqrt", [variance], inner=True)], inner=True)
        self.name = self.op("Add", [self.op("Mul", [normal, scale], inner=True), shift])

    def tokens(self) -> None:
        """Transpose a sequence or volume to (batch, positions, channels)."""
        batch, channels, *size = self.shape
        count = int(np.prod(size))
        if len(size) > 1:
            flat = self.const([batch, channels, count], np.int64)
            self.name = self.op("Reshape", [self.name, flat])
        self.name = self.op("Transpose", [self.name], perm=[0, 2, 1])
        self.shape = (batch, count, channels)

    # Blocks of transformers

    def product(self, source: str, width: int, outputs: int) -> str:
        """A product with a weight, perhaps with the sum of a bias."""
        result = self.op("MatMul", [source, self.weight((width, outputs), width, None)])
        bias = self.rng.standard_normal(outputs) * 5
        return self.op("Add", [result, self.operand(bias)]) if self.maybe() else result

    def feed_forward(self) -> None:
        """MatMul, GELU or SiLU, MatMul, and the sum with what came in."""
        width, start = self.shape[-1], self.name
        x = self.product(start, width, 2 * width)
        kind = self.pick("GELU in parts", "Gelu", "SiLU", "Relu", "none")
        if kind == "GELU in parts":
            erf = self.op("Erf", [self.op("Div", [x, self.const(2**0.5)], inner=True)], inner=True)
            cdf = self.op("Add", [erf, self.const(1)], inner=True)
            x = self.op("Mul", [self.op("Mul", [x, cdf], inner=True), self.const(0.5)])
        elif kind == "SiLU":
            x = self.op("Mul", [x, self.op("Sigmoid", [x], inner=True)])
        elif kind != "none":
            x = self.op(kind, [x])
        x = self.product(x, 2 * width, width)
        self.name = self.op("Add", [x, start]) if self.maybe() else x

    def attention(self) -> None:
        """Self-attention with two heads."""
        batch, count, width = self.shape
        if width % 2:
            return
        parts, split = [], self.const([batch, count, 2, width // 2], np.int64)
        for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            x = self.op("Reshape", [self.product(self.name, width, width), split])
            parts.append(self.op("Transpose", [x], perm=order))
        scores = self.op("MatMul", parts[:2])
        scores = self.op("Mul", [scores, self.const(1e-3 * (width / 2) ** -0.5)])
        mixed = self.op("MatMul", [self.op("Softmax", [scores], axis=-1), parts[2]])
        mixed = self.op("Transpose", [mixed], perm=[0, 2, 1, 3])
        joined = self.op("Reshape", [mixed, self.const([batch, count, width], np.int64)])
        self.name = self.op("Add", [self.name, self.product(joined, width, width)])

    def reduction(self) -> None:
        """A reduction over the last axis, or over positions."""
        sums = ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")
        kind = self.pick("ReduceMean", "ReduceSum", "ReduceMax", *sums)
        if kind == "ReduceLogSumExp":
            self.name = self.op("Mul", [self.name, self.const(0.02)])
        last, keep = len(self.shape) - 1, self.maybe()
        axes = self.pick([last], list(range(2, last + 1)) if last > 2 else [1])
        names = [self.name, self.const(axes, np.int64)]
        self.name = self.op(kind, names, keepdims=int(keep))


def _sketch(rng: np.random.Generator) -> tuple[_Sketch, Sequence[int]]:
    start = [(1, 6, 24), (1, 4, 4, 6, 6), (1, 10, 16), (2, 6, 16)][rng.integers(4)]
    sketch = _Sketch(rng, start)
    if start[-1] == 16:
        blocks = [sketch.feed_forward, sketch.attention, sketch.layer_norm]
        for number in rng.integers(3, size=rng.integers(1, 4)):
            blocks[number]()
    else:
        for _ in range(rng.integers(2, 4)):
            sketch.conv()
        if rng.integers(2):
            sketch.tokens()
            sketch.feed_forward()
    if rng.integers(2):
        sketch.reduction()
    return sketch, start


def coded_network(seed: int, bits: int = 8) -> CodedNetwork:
    """Return the random network of a seed; only inner tensors of functions may lack an encoding."""
    rng = np.random.default_rng(seed)
    sketch, shape = _sketch(rng)
    gain, kind = float(rng.choice([0.02, 40.0])), TensorProto.FLOAT
    inputs = [{"x": (rng.standard_normal(shape) * gain).astype(np.float32)} for _ in range(4)]
    graph = helper.make_graph(
        sketch.nodes,
        "coded",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info(sketch.name, kind, None)],
        [numpy_helper.from_array(array, name) for name, array in sketch.arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=10)
    seen = [{**feed, **answers(model, feed, every=True)} for feed in inputs]
    names = ["x", *(node.output[0] for node in sketch.nodes)]
    ranges = {
        name: (
            min(float(values[name].min()) for values in seen),
            max(float(values[name].max()) for values in seen),
        )
        for name in names
    }
    if rng.integers(2):
        arrays = {name: sketch.arrays[name] for name in sketch.operands}
        ranges |= {name: (float(a.min()), float(a.max())) for name, a in arrays.items()}
    left_out = frozenset(sketch.inner) if rng.integers(2) else frozenset()
    return CodedNetwork(model, ranges, sketch.weights, sketch.biases, inputs, bits, left_out)
