"""The ONNX graph that the writer is building."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnx

from hexsim.graph.ir import Layer, Network, Shape
from hexsim.graph.reading_ahead import heavy
from hexsim.layers import NO_CLAMP, Clamp
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.write.precision import Precision, rounded, rounds_weights
from hexsim.records import dataclass
from hexsim.threads import default_threads

_INLINE_ELEMENTS = 256
"""Constants up to this size are written into the graph; larger ones stay arrays beside it."""
_FED_ELEMENTS = 1 << 20
"""A matrix with at least this many weights is an input of the graph: onnxruntime does not copy an
input, but copies an initialiser up to twice, and multiplies one row by a matrix that it did not
pack in half the time."""
_BLOCK_ELEMENTS = 1 << 20
"""Elements of such a matrix that the graph rounds at a time (16 times as many took the same)."""


@dataclass(frozen=True)
class WrittenGraph:
    """A graph whose large initialisers are declared external; `weights` holds their values.

    So a network of any size stays below protobuf's limit, and weights are not copied. `fed` are
    weights that are inputs of the graph, after the inputs of the network.
    """

    model: onnx.ModelProto
    weights: dict[str, Array]
    fed: dict[str, Array]


class GraphBuilder:
    """Nodes and initialisers written so far, with the rounding of one precision.

    `opset` decides the form of operators that changed between versions.
    """

    def __init__(self, network: Network, precision: Precision, opset: int) -> None:
        self.network = network
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.weights: dict[str, Array] = {}
        self.fed: dict[str, Array] = {}
        self._precision = precision
        self._read: dict[str, Array] = {}
        self._current: dict[str, str] = {}
        self._constants: set[str] = set()
        self._count = 0

    @property
    def separate_bias(self) -> bool:
        """True if a bias is added by a separate operator."""
        return self._precision == "float16"

    def begin(self) -> None:
        """Read large constants on all cores, and round the inputs as the precision stores them."""
        names = [constant.name for constant in heavy(self.network.constants.values())]
        with ThreadPoolExecutor(default_threads()) as cores:
            self._read = dict(zip(names, cores.map(self._reading, names), strict=True))
        for name in self.network.inputs:
            if self._precision != "float32" and self._is_single(name):
                self._current[name] = self._round(name)

    def read(self, name: str) -> str:
        """Return the graph's name of a tensor or constant of the network."""
        if name in self.network.constants:
            return self.constant(name)
        return self._current.get(name, name)

    def shape(self, name: str) -> Shape:
        """Stored shape of a tensor or constant of the network."""
        return self.network.shape(name)

    def constant(
        self, name: str, form: str = "", change: Callable[[Array], Array] = lambda array: array
    ) -> str:
        """Return the initialiser that holds `change` of a constant of the network."""
        label = f"{name}/{form}" if form else name
        if label not in self._constants:
            self._constants.add(label)
            self._initialize(label, np.asarray(change(self._value(name)), order="C"))
        return label

    def matrix(self, name: str) -> dict[str, int]:
        """Return the tensors with the blocks of rows of a constant matrix, and their row counts.

        A large matrix is an unchanged input. If it has to be rounded, the graph rounds it in
        blocks of rows during the run, just before each is used: onnxruntime needs less time for
        this than numpy, and no second matrix is in memory.
        """
        constant = self.network.constants[name]
        rows, columns = constant.shape
        if constant.elements < _FED_ELEMENTS:
            return {self.constant(name): rows}
        array = self._array(name)
        if not rounds_weights(self._precision, array):
            self.fed[f"{name}/fed"] = array
            return {f"{name}/fed": rows}
        step = max(1, _BLOCK_ELEMENTS // columns)
        blocks = {f"{name}/fed/{row}": array[row : row + step] for row in range(0, rows, step)}
        self.fed.update(blocks)
        return {self._round(label): len(block) for label, block in blocks.items()}

    def literal(self, array: Array) -> str:
        """Return an initialiser that holds `array`."""
        label = self._new("literal")
        self._initialize(label, array)
        return label

    def compute(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add an operator that does arithmetic; return its output, rounded if need be."""
        output = self.move(operator, inputs, **attributes)
        return self._round(output) if self._precision == "float16" else output

    def move(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add an operator whose result needs no rounding; return its output.

        The node has a name, because onnxruntime 1.20 names what it fuses after its parts and
        refuses a graph in which two names agree.
        """
        output = self._new(operator)
        node = onnx.helper.make_node(operator, inputs, [output], name=output, **attributes)
        self.nodes.append(node)
        return output

    def transpose(self, name: str, permutation: Sequence[int]) -> str:
        """Add a Transpose, or an Identity for a scalar."""
        if not permutation:
            return self.move("Identity", [name])
        return self.move("Transpose", [name], perm=list(permutation))

    def out_of_reach(self, name: str) -> str:
        """Pass a tensor through a sequence, past which onnxruntime does not move transposes."""
        sequence = self.move("SequenceConstruct", [name])
        return self.move("SequenceAt", [sequence, self.literal(np.array(0, np.int64))])

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """Add a Reshape to a known shape."""
        return self.move("Reshape", [name, self.literal(np.array(shape, np.int64))])

    def split(self, name: str, sizes: Sequence[int], axis: int) -> list[str]:
        """Add a Split into parts of these sizes, if there are several."""
        if len(sizes) == 1:
            return [name]
        parts = [self._new("part") for _ in sizes]
        if self.opset < 13:
            node = onnx.helper.make_node("Split", [name], parts, split=list(sizes), axis=axis)
        else:
            lengths = self.literal(np.array(sizes, np.int64))
            node = onnx.helper.make_node("Split", [name, lengths], parts, axis=axis)
        self.nodes.append(node)
        return parts

    def clamped(self, name: str, clamp: Clamp, dtype: str) -> str:
        """Add the operator that limits values to `clamp`, if it limits them at all."""
        if not clamp.limits:
            return name
        if clamp == Clamp(low=0.0):
            return self.move("Relu", [name])
        bounds = {"min": clamp.low, "max": clamp.high}
        if self.opset < 11:
            finite = {key: bound for key, bound in bounds.items() if np.isfinite(bound)}
            return self.move("Clip", [name], **finite)
        inputs = [
            self.literal(np.array(bound, dtype)) if np.isfinite(bound) else ""
            for bound in bounds.values()
        ]
        return self.move("Clip", [name, *inputs])

    def finish(self, result: str, output: str, clamp: Clamp = NO_CLAMP) -> None:
        """Make `result`, limited to `clamp`, the network's tensor `output`.

        It is rounded as the precision stores it.
        """
        result = self.clamped(result, clamp, self.network.tensors[output].dtype)
        if self._precision != "float32" and self._is_single(output):
            result = self._round(result)
        last_node = self.nodes[-1]
        assert list(last_node.output) == [result], "the result of a layer is its last operator"
        last_node.output[0] = output

    def verbatim(self, node: onnx.NodeProto) -> None:
        """Add a node as it is."""
        self.nodes.append(node)

    def _value(self, name: str) -> Array:
        return rounded(self._array(name), self._precision)

    def _array(self, name: str) -> Array:
        return self._read.pop(name) if name in self._read else self._reading(name)

    def _reading(self, name: str) -> Array:
        constant = self.network.constants[name]
        return constant.finite() if name in self.network.weights else constant.value()

    def _is_single(self, name: str) -> bool:
        return self.network.tensors[name].dtype == "float32"

    def _round(self, name: str) -> str:
        half = self.move("Cast", [name], to=onnx.TensorProto.FLOAT16)
        return self.move("Cast", [half], to=onnx.TensorProto.FLOAT)

    def _new(self, hint: str) -> str:
        """Return an unused name; the network may come from a graph that was written here."""
        network = self.network
        while True:
            self._count += 1
            name = f"hexsim/{self._count}/{hint}"
            if name not in network.tensors and name not in network.constants:
                return name

    def _initialize(self, label: str, array: Array) -> None:
        if array.size <= _INLINE_ELEMENTS:
            self.initializers.append(onnx.numpy_helper.from_array(np.asarray(array), label))
            return
        tensor = onnx.TensorProto(
            name=label,
            data_type=onnx.helper.np_dtype_to_tensor_dtype(array.dtype),
            dims=array.shape,
            data_location=onnx.TensorProto.EXTERNAL,
        )
        tensor.external_data.add(key="location", value="memory")
        self.initializers.append(tensor)
        self.weights[label] = array


Emitter = Callable[[Any, GraphBuilder], None]
"""A function that writes layers of one type."""
Emitters = Mapping[type[Layer], Emitter]
