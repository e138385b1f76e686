"""Random networks in QDQ form: each tensor has the range of its values, unless it is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[np.float32]

SHAPE = (1, 4, 8, 8)
OPERATORS = ("conv", "relu", "add", "mul", "concat", "max", "average", "sigmoid", "flip")
BIAS = {None: None, "float": np.float32, "int32": np.int32, "int16": np.int16}
"""The types of a bias: without one, in floats beside coded weights, or in codes of the type."""


@dataclass(frozen=True)
class Step:
    """One operator: its name, the number of the tensor that it reads, and that of a second one."""

    operator: str
    first: int
    second: int
    bias: str | None = "int32"


class CodedNetwork:
    """The network of `steps`, with activations of `bits` bits, and its float form.

    The tensors in `uncoded` have no nodes that quantise them; `names` has all that could have some.
    """

    def __init__(
        self, steps: Sequence[Step], seed: int = 0, bits: int = 8, uncoded: Iterable[int] = ()
    ) -> None:
        self._seed, self._rng = seed, np.random.default_rng(seed)
        self.bits = bits
        self._uncoded = frozenset(uncoded)
        self._steps = steps
        self.input = (self._rng.standard_normal(SHAPE) * 20).astype(np.float32)
        self._drawn: dict[int, tuple[Array, Array]] = {}
        self.names: list[str] = []
        floats = self._model({})
        session = onnxruntime.InferenceSession(floats.SerializeToString())
        values = dict(zip(self.names, session.run(self.names, {"x": self.input}), strict=True))
        values["x"] = self.input
        self.ranges = {
            name: (min(0.0, float(v.min())), max(1e-3, float(v.max())))
            for name, v in values.items()
        }
        self.model = self._model(self.ranges)

    def answer(self) -> Array:
        """What onnxruntime makes of the coded network, node by node."""
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(self.model.SerializeToString(), options)
        return np.asarray(session.run(None, {"x": self.input})[0], np.float32)

    def without(self, number: int) -> CodedNetwork:
        """The same network; the tensor of a number, 0 for the input, has no encoding."""
        return CodedNetwork(self._steps, self._seed, self.bits, uncoded=(number,))

    def _model(self, ranges: Mapping[str, tuple[float, float]]) -> onnx.ModelProto:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self.names = []
        tensors = [self._coded("x", ranges, 0)]
        shapes: list[tuple[int, ...]] = [SHAPE]
        for number, step in enumerate(self._steps, start=1):
            first, second = step.first % len(tensors), step.second % len(tensors)
            shape = self._operator(number, step, tensors, shapes, first, second)
            output = f"y{number}"
            self._nodes[-1].output[0] = output
            self.names.append(output)
            tensors.append(self._coded(output, ranges, number))
            shapes.append(shape)
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in (("x", SHAPE), (tensors[-1], shapes[-1]))
        ]
        outputs = ends[1:]
        if not ranges:
            outputs = [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.names
            ]
        graph = helper.make_graph(self._nodes, "coded", ends[:1], outputs, self._constants)
        opsets = [helper.make_opsetid("", 21)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _operator(
        self,
        number: int,
        step: Step,
        tensors: Sequence[str],
        shapes: Sequence[tuple[int, ...]],
        first: int,
        second: int,
    ) -> tuple[int, ...]:
        """Add the operator; return the shape of its output."""
        source, shape = tensors[first], shapes[first]
        other = tensors[second] if shapes[second] == shape else source
        match step.operator:
            case "conv":
                weight, bias = self._parameters(number, shape[1], step.bias)
                inputs = [source, weight, *([bias] if bias else [])]
                self._node("Conv", inputs, pads=[1] * 4)
            case "add" | "mul":
                self._node(step.operator.capitalize(), [source, other])
            case "concat" if shape[1] < 16:
                self._node("Concat", [source, other], axis=1)
                return (shape[0], 2 * shape[1], *shape[2:])
            case "max" | "average":
                kind = {"max": "MaxPool", "average": "AveragePool"}[step.operator]
                attributes = {"kernel_shape": [3, 3], "pads": [1] * 4}
                self._node(kind, [source], **attributes)
            case "flip":
                self._node("Transpose", [source], perm=[0, 1, 3, 2])
            case "sigmoid":
                self._node("Sigmoid", [source])
            case _:
                self._node("Relu", [source])
        return shape

    def _parameters(self, number: int, channels: int, bias: str | None) -> tuple[str, str]:
        if number not in self._drawn:
            self._drawn[number] = (
                (self._rng.standard_normal((channels, channels, 3, 3)) * 0.1).astype(np.float32),
                self._rng.standard_normal(channels).astype(np.float32),
            )
        weight, values = self._drawn[number]
        step = np.float32(np.abs(weight).max() / 127)
        codes = np.clip(np.round(weight / step), -127, 127).astype(np.int8)
        name = self._dequantized(codes, step)
        if bias is None:
            return name, ""
        if bias == "float":
            return name, self._constant(values)
        limit = 2**30 if bias == "int32" else 2**14
        bias_step = np.float32(np.abs(values).max() / limit)
        return name, self._dequantized(np.round(values / bias_step).astype(bias), bias_step)

    def _coded(self, name: str, ranges: Mapping[str, tuple[float, float]], number: int) -> str:
        if name not in ranges or number in self._uncoded:
            return name
        low, high = ranges[name]
        kind = np.uint8 if self.bits == 8 else np.uint16
        step = np.float32((high - low) / (2**self.bits - 1))
        pair = [self._constant(step), self._constant(kind(round(-low / step)))]
        return self._node("DequantizeLinear", [self._node("QuantizeLinear", [name, *pair]), *pair])

    def _dequantized(self, codes: npt.NDArray[np.generic], step: np.float32) -> str:
        zero = np.zeros((), codes.dtype)
        inputs = [self._constant(codes), self._constant(step), self._constant(zero)]
        return self._node("DequantizeLinear", inputs)

    def _constant(self, array: npt.ArrayLike) -> str:
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def _node(self, operator: str, inputs: Sequence[str], **attributes: object) -> str:
        name = f"{operator.lower()}{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name
