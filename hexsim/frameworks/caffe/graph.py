"""Builds the ONNX graph layer by layer, and knows the shape of every tensor.

Weights are not read here: the graph holds functions that read them when they are needed.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from hexsim import budget
from hexsim.errors import HexsimError, spelled
from hexsim.frameworks.caffe.blobs import Blob, Blobs
from hexsim.frameworks.caffe.description import CaffeLayer, Description, Shape
from hexsim.frameworks.foreign import LOCATION, Foreign
from hexsim.texts.text import new_name

OPSET, IR_VERSION = 13, 8
Array = npt.NDArray[Any]


class CaffeGraph:
    """Nodes, initialisers and shapes so far; `blobs` are the weights by layer name."""

    def __init__(self, net: Description, blobs: Blobs | None, label: str) -> None:
        self.shapes: dict[str, Shape] = dict(net.inputs)
        self._net = net
        self._blobs = blobs
        self._label = label
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, onnx.TensorProto] = {}
        self._weights: dict[str, Callable[[], Array]] = {}
        self._taken = {*net.inputs, *(name for layer in net.layers for name in layer.outputs)}
        self.writers: dict[str, CaffeLayer] = {}

    def shape(self, layer: CaffeLayer, position: int = 0) -> Shape:
        """Return the shape of an input of a layer."""
        return self.shapes[layer.inputs[position]]

    def add(
        self,
        layer: CaffeLayer,
        op_type: str,
        inputs: Sequence[str],
        shape: Shape,
        output: str | None = None,
        **attributes: Any,
    ) -> str:
        """Add a node that writes `output`, the layer's own if None, of `shape`; return the name."""
        (name,) = self.add_with(layer, op_type, inputs, {output or layer.outputs[0]: shape},
                                **attributes)  # fmt: skip
        return name

    def add_with(
        self,
        layer: CaffeLayer,
        op_type: str,
        inputs: Sequence[str],
        outputs: dict[str, Shape],
        **attributes: Any,
    ) -> tuple[str, ...]:
        """Add a node with several outputs; HexsimError if one is empty or beyond the budget."""
        for name, shape in outputs.items():
            if any(size < 1 for size in shape):
                raise layer.error(f"its output would have the shape {list(shape)}")
            budget.require_shape(shape, f"output '{name}' of {layer.fields.where}")
        is_layer_output = set(outputs).issubset(layer.outputs)
        label = layer.name if is_layer_output else next(iter(outputs))
        self._nodes.append(helper.make_node(op_type, inputs, list(outputs), label, **attributes))
        self.shapes.update(outputs)
        self.writers.update(dict.fromkeys(outputs, layer))
        return tuple(outputs)

    def inner(self, layer: CaffeLayer, role: str) -> str:
        """Return a new name for a tensor inside the layer."""
        return self._unique(f"{layer.name}.{role}")

    def numbers(
        self, layer: CaffeLayer, op_type: str, data: str, role: str | None, operand: float
    ) -> str:
        """Add a node of `data` and one number.

        It writes the inner tensor `role`, or the output of the layer if that is None.
        """
        label = layer.outputs[0] if role is None else self.inner(layer, role)
        number = self.constant(layer, f"{op_type.lower()}_operand", operand, "float32")
        return self.add(layer, op_type, [data, number], self.shapes[data], label)

    def constant(self, layer: CaffeLayer, role: str, values: npt.ArrayLike, dtype: str) -> str:
        """Add a small constant and return its name."""
        name = self.inner(layer, role)
        self._initializers[name] = numpy_helper.from_array(np.asarray(values, dtype), name)
        return name

    def promise(self, layer: CaffeLayer, role: str, shape: Shape, make: Callable[[], Array]) -> str:
        """Add a float32 constant that `make` computes when it is needed; return its name."""
        name = self.inner(layer, role)
        tensor = onnx.TensorProto(name=name, dims=shape, data_type=onnx.TensorProto.FLOAT)
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=LOCATION)
        self._initializers[name] = tensor
        self._weights[name] = make
        return name

    def weight(self, layer: CaffeLayer, position: int, role: str, shape: Shape) -> str:
        """Add the blob of a layer at `position` as a constant of `shape`; return its name.

        Raises HexsimError if it is missing or has another shape, axes of size one ignored.
        """
        blob = self.blob(layer, position)
        if _bare(blob.shape) != _bare(shape):
            raise layer.error(
                f"its {role} have the shape {list(blob.shape)} in the caffemodel, and the "
                f"prototxt says {list(shape)}"
            )
        return self.promise(layer, role, shape, partial(_shaped, blob, shape))

    def blob(self, layer: CaffeLayer, position: int) -> Blob:
        """Return the blob of a layer at `position`; HexsimError if it is missing."""
        if self._blobs is None:
            raise HexsimError(
                f"'{self._label}' describes layers with weights, and no caffemodel is beside it; "
                f"give its file with {spelled('caffe_bin')}"
            )
        layer_blobs = self._blobs.get(layer.name, ())
        if position >= len(layer_blobs):
            raise layer.error(
                f"it needs {position + 1} blobs of weights, and the caffemodel has "
                f"{len(layer_blobs)} for it; give the caffemodel that belongs to this prototxt"
            )
        return layer_blobs[position]

    def finish(self, name: str) -> Foreign:
        """Return the model, named `name`."""
        inputs = [
            helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, shape)
            for tensor, shape in self._net.inputs.items()
        ]
        outputs = [
            helper.make_tensor_value_info(tensor, onnx.TensorProto.FLOAT, self.shapes[tensor])
            for tensor in self._net.outputs
        ]
        graph = helper.make_graph(self._nodes, name, inputs, outputs)
        graph.initializer.extend(self._initializers.values())
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        return Foreign(model, self._weights)

    def _unique(self, name: str) -> str:
        return new_name(self._taken, name)


def _bare(shape: Shape) -> Shape:
    """Return a shape without sizes of one; old files pad shapes with such axes."""
    return tuple(size for size in shape if size != 1)


def _shaped(blob: Blob, shape: Shape) -> Array:
    assert math.prod(blob.shape) == math.prod(shape)
    return blob.read().reshape(shape)
