"""Network, Layer, Tensor, Constant: hexsim's intermediate representation of neural networks.

A `Network` is an immutable list of layers in topological order. A pass takes one and returns
another. Tensors keep their ONNX names throughout, so that encodings, reports and the user's file
use the same names.

Axis order. Hexagon kernels keep channels last, ONNX keeps them second. A `Tensor` therefore
records its *stored* shape and, in `order`, which source (ONNX) axis each stored axis is: an
image that ONNX calls 1x3x224x224 is stored 1x224x224x3 with order (0, 2, 3, 1). All attributes
of layers (axes, permutations, target shapes) refer to stored axes.

Constants are lazy: a run for timing alone uses only shapes and never reads a weight.

Left out: control flow, sequences and strings; a network is one static graph.
"""

from __future__ import annotations

import dataclasses
import math
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph import consistency
from hexsim.graph.domains import MOST_AXES, Natural, Sizes
from hexsim.graph.network_ends import PLAIN, CodedEnd, InputFormat
from hexsim.graph.support import UNDECLARED, Limit, Support
from hexsim.records import KW_ONLY, dataclass, field
from hexsim.texts.text import shortened

_Element = TypeVar("_Element", bound=np.generic)

_STRIP = 64
"""Steps of the slowest axis that are copied together, so that their cache lines are reused for the
next elements. Measured on matrices of 16 to 151 MB: a third
to a seventh of the time of one copy."""
_LARGE = 1 << 18
"""The number of elements from which an array does not fit into the cache."""


def contiguous(array: npt.NDArray[_Element]) -> npt.NDArray[_Element]:
    """Return `array` in C order, itself if it is already."""
    if array.flags.c_contiguous or array.size < _LARGE:
        return np.ascontiguousarray(array)
    copy = np.empty(array.shape, array.dtype)
    axis = max(range(array.ndim), key=lambda index: abs(array.strides[index]))
    source, result = np.moveaxis(array, axis, 0), np.moveaxis(copy, axis, 0)
    for start in range(0, len(source), _STRIP):
        result[start : start + _STRIP] = source[start : start + _STRIP]
    return copy


Shape = tuple[int, ...]
MOST_ELEMENTS = 1 << 28
"""The most elements of a tensor or constant: a gigabyte of floats, more than phones need."""
_DTYPE = re.compile(r"bool|object|(u?int|bfloat|float|complex)\d+(_e\dm\d\w*)?")
"""Names of element types in numpy, and of further types in ONNX files."""
NamedShapes = Sequence[tuple[str, Shape]]
"""Names with shapes; a name may occur twice and must then have both shapes."""
FloatArray = npt.NDArray[np.float32]
ANY_BUT_SCALAR = tuple(range(1, MOST_AXES + 1))
"""Ranks of a layer that needs a last axis."""
Sign = Literal["signed", "unsigned", "as inputs"]
"""Whether an output may be negative: always, never, or only if an input is."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An activation: its name, stored shape, and the source of each stored axis.

    `order[i]` is the source (ONNX) axis of stored axis i; `dtype` is the numpy name of the element
    type in the float network. For the stored axes in `varies` the size depends on values and the
    shape has its maximum.
    """

    name: str
    shape: Sizes
    order: tuple[int, ...] = ()
    dtype: str = "float32"
    varies: tuple[Natural, ...] = ()

    def __post_init__(self) -> None:
        if len(self.shape) > MOST_AXES:
            raise InvalidDataError(
                f"tensor {self.name} has {len(self.shape)} axes, and {MOST_AXES} is the most"
            )
        if not self.order:
            object.__setattr__(self, "order", tuple(range(len(self.shape))))
        if sorted(self.order) != list(range(len(self.shape))):
            raise InvalidDataError(
                f"tensor {self.name}: order {self.order} does not fit {self.shape}"
            )

    def fault(self) -> str | None:
        """Return the fault of its shape or type, if there is one."""
        if not _DTYPE.fullmatch(self.dtype):
            return f"elements of the unknown type '{shortened(self.dtype)}'"
        if math.prod(self.shape) > MOST_ELEMENTS:
            return f"shape {list(self.shape)} has more than {MOST_ELEMENTS} elements"
        if any(axis >= len(self.shape) for axis in self.varies):
            return f"sizes that vary on the axes {list(self.varies)} of {len(self.shape)}"
        return None

    def may_have(self, shape: Shape) -> bool:
        """Return whether its values may have this stored shape."""
        return len(shape) == len(self.shape) and all(
            size <= most if axis in self.varies else size == most
            for axis, (size, most) in enumerate(zip(shape, self.shape, strict=True))
        )

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def source_shape(self) -> Shape:
        """Shape in the ONNX file's own axis order."""
        by_source = dict(zip(self.order, self.shape, strict=True))
        return tuple(by_source[axis] for axis in range(len(self.shape)))

    def to_source(self, stored: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return `stored` (shape `shape`) in the ONNX file's axis order."""
        return stored.transpose(np.argsort(self.order)) if self.order else stored

    def from_source(self, source: npt.NDArray[_Element]) -> npt.NDArray[_Element]:
        """Return `source` (shape `source_shape`) in stored axis order."""
        return contiguous(source.transpose(self.order)) if self.order else source


class Constant:
    """A weight, bias or other array known before the network runs; computed when first read.

    `value` is a numpy array or a function without arguments that returns one. Constants derived
    from others (folding a batch norm, changing axis order) use a function, so that shapes are known
    at once and the arithmetic is done only if the values are used. The result of the function is
    cached; if not `kept`, only while other code refers to it. Threads that read it at the same time
    wait for the one that computes it.
    """

    __slots__ = ("_cached", "_reading", "_value", "dtype", "kept", "name", "shape")

    def __init__(
        self,
        name: str,
        shape: Sequence[int],
        value: npt.NDArray[np.generic] | Callable[[], npt.NDArray[np.generic]],
        dtype: str = "float32",
        *,
        kept: bool = True,
    ) -> None:
        self.name = name
        self.shape: Shape = tuple(int(n) for n in shape)
        self.dtype = dtype
        self.kept = kept
        self._value = value
        self._cached: Callable[[], npt.NDArray[np.generic] | None] = _nothing
        self._reading = threading.Lock()

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def value(self) -> npt.NDArray[Any]:
        """Return the array, read-only, of `shape` and `dtype`."""
        with self._reading:
            cached = self._cached()
            if cached is not None:
                return cached
            computed = self._value() if callable(self._value) else self._value
            array = contiguous(np.asarray(computed, self.dtype)).reshape(self.shape).view()
            array.flags.writeable = False
            if self.kept:
                self._value = array
            self._cached = (lambda: array) if self.kept else weakref.ref(array)
            return array

    def finite(self) -> npt.NDArray[Any]:
        """Return `value()` of a weight; raise HexsimError if it holds NaN or infinity.

        Operands that are no weights may be infinite, as the masks of attention layers are.
        """
        array = self.value()
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            kind = "NaN" if np.isnan(array).any() else "infinite"
            raise HexsimError(
                f"weight tensor '{self.name}' holds {kind} values; repair or export the model again"
            )
        return array

    def derive(
        self,
        shape: Sequence[int],
        change: Callable[[npt.NDArray[np.generic]], npt.NDArray[np.generic]],
        name: str | None = None,
        dtype: str | None = None,
    ) -> Constant:
        """Return a lazy constant with the values of `change` of this one, and `shape`."""
        return Constant(name or self.name, shape, lambda: change(self.value()), dtype or self.dtype)

    def shape_only(self) -> Constant:
        """Return a constant without an array, which raises TypeError if it is read."""
        return Constant(self.name, self.shape, _no_array, self.dtype)

    def __reduce__(self) -> tuple[Callable[..., Constant], tuple[Any, ...]]:
        """Pickle the array instead of a function, which may read a file of this machine."""
        value = _no_array if self._value is _no_array else self.value()
        return partial(Constant, kept=self.kept), (self.name, self.shape, value, self.dtype)

    def __repr__(self) -> str:
        return f"Constant({self.name!r}, {self.shape}, {self.dtype})"


def _nothing() -> None:
    """Stand for the cache of a constant before it is read."""


def _no_array() -> npt.NDArray[np.generic]:
    raise TypeError("a constant of which only the shape is known")


@dataclass(frozen=True)
class Layer:
    """Base of all layer types (hexsim.layers): a name, and the tensors that it reads and writes.

    `inputs` name tensors or constants, `outputs` name tensors. `fused` names the ONNX nodes that
    graph passes absorbed into this layer. Subclasses are frozen dataclasses that add attributes
    and override the rules below; constants that are parameters rather than operands (weight,
    bias) are fields of the subclass and listed by `parameters`. Every subclass states `type`,
    `support`, `sign` and `moves_codes`, as class variables or, if its attributes matter, as
    properties.
    """

    ranks: ClassVar[tuple[int, ...] | None] = None
    """The allowed numbers of axes of its first operand; None: any."""
    limits: ClassVar[tuple[Limit, ...]] = ()
    """Rules by which targets that support this type refuse a layer."""
    counts: ClassVar[bool] = False
    """True if its outputs are whole numbers from zero on, so that codes equal values."""
    rearranges: ClassVar[bool] = False
    """True if its output has each element of its only input once, in another shape or order."""
    generic_cost: ClassVar[bool] = False
    """True if a generic model gives its cost on the vector unit instead of a kernel model."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    _: KW_ONLY
    fused: tuple[str, ...] = ()

    def output_shapes(self, inputs: Sequence[Shape]) -> tuple[Shape, ...]:
        """Return the stored shapes of the outputs for those of the inputs.

        Raises InvalidDataError for invalid inputs.
        """
        raise NotImplementedError(type(self).__name__)

    @property
    def operands(self) -> tuple[int, int]:
        """The least and the largest number of inputs."""
        return 1, 1

    def parameter_shapes(self, inputs: Sequence[Shape]) -> NamedShapes:
        """Return the names of its parameters and statistics, with their shapes for these inputs."""
        return ()

    def require_parameters(self, inputs: Sequence[Shape], shapes: Mapping[str, Shape]) -> None:
        """Raise InvalidDataError unless the `shapes` of its constants, by name, fit."""
        for name, shape in self.parameter_shapes(inputs):
            if shapes[name] != shape:
                raise InvalidDataError(
                    f"constant '{name}' has the shape {list(shapes[name])}; expected {list(shape)}"
                )

    def macs(self, inputs: Sequence[Shape], outputs: Sequence[Shape]) -> int:
        """Return the multiply-accumulates of one inference; zero where none are usually counted."""
        return 0

    def elements_read(self, inputs: Sequence[Shape]) -> int:
        """Return how many elements of its inputs one inference reads: all, or some of a table."""
        return sum(math.prod(shape) for shape in inputs)

    @property
    def type(self) -> str:
        """Type name as the SNPE tools print it."""
        return "layer"

    @property
    def support(self) -> Support:
        """The targets that support it."""
        return UNDECLARED

    @property
    def sign(self) -> Sign:
        """Whether its output may be negative, a fused clamp aside."""
        return "signed"

    @property
    def moves_codes(self) -> bool:
        """True if its output consists of codes of its input, or (NV21) bytes like its input.

        Then the output has the encoding of the input, whatever its values.
        """
        return False

    def is_no_op(self, inputs: Sequence[Shape]) -> bool:
        """Return whether its output equals its first input, for inputs of these shapes."""
        return False

    def variant(self, inputs: Sequence[Shape]) -> str:
        """Return its variant within its type, which releases distinguish, for these inputs."""
        return ""

    def turned(self) -> Self | None:
        """Return it for images with height and width swapped; None if it refers to an axis."""
        return None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the constants that belong to this layer (weight first, then bias)."""
        return ()

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of constants with statistics of this layer's values, not used for its result."""
        return ()

    @property
    def output(self) -> str:
        """The only output of a single-output layer."""
        (name,) = self.outputs
        return name

    def replace(self, **changes: Any) -> Self:
        """Return a copy with fields changed."""
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True)
class Network:
    """Layers in topological order with the tensors and constants they name.

    `inputs` and `outputs` are tensor names in the order of the ONNX file. `tensors` has every
    activation, `constants` every array known beforehand; the two sets of names are disjoint.
    `input_formats` has the inputs that are not plain floats, `coded_ends` the inputs and outputs
    that are codes in the ONNX file. `states` maps inputs that stay in the runtime's memory between
    inferences, such as a cache, to the outputs that change them.
    """

    name: str
    layers: tuple[Layer, ...]
    tensors: Mapping[str, Tensor]
    constants: Mapping[str, Constant] = field(repr=False)
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_formats: Mapping[str, InputFormat] = field(default_factory=dict)
    coded_ends: Mapping[str, CodedEnd] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def producers(self) -> Mapping[str, Layer]:
        """Tensor name -> the layer that writes it (inputs of the network are absent)."""
        return {output: layer for layer in self.layers for output in layer.outputs}

    @cached_property
    def consumers(self) -> Mapping[str, tuple[Layer, ...]]:
        """Tensor name -> the layers that read it, in order; names without readers are absent."""
        readers: dict[str, list[Layer]] = {}
        for layer in self.layers:
            for name in dict.fromkeys(layer.inputs):
                readers.setdefault(name, []).append(layer)
        return {name: tuple(layers) for name, layers in readers.items()}

    def shape(self, name: str) -> Shape:
        """Return the stored shape of a tensor or constant."""
        return (self.tensors.get(name) or self.constants[name]).shape

    def types_of(self, layer: Layer) -> frozenset[str]:
        """Return the element types of what a layer reads and writes."""
        names = (*layer.inputs, *layer.outputs)
        return frozenset((self.tensors.get(name) or self.constants[name]).dtype for name in names)

    def input_format(self, name: str) -> InputFormat:
        """Return the format of tensor `name`; plain for tensors that are no network inputs."""
        return self.input_formats.get(name, PLAIN)

    def input_shapes(self, layer: Layer) -> tuple[Shape, ...]:
        """Return the stored shapes of a layer's inputs."""
        return tuple(self.shape(name) for name in layer.inputs)

    def layer_outputs(self, layer: Layer) -> tuple[Shape, ...]:
        """Return the stored shapes of a layer's outputs."""
        return tuple(self.tensors[name].shape for name in layer.outputs)

    def macs(self, layer: Layer) -> int:
        """Return the multiply-accumulates of one layer."""
        return layer.macs(self.input_shapes(layer), self.layer_outputs(layer))

    def parameter_count(self, layer: Layer) -> int:
        """Return the number of weights and biases of one layer."""
        return sum(self.constants[name].elements for name in layer.parameters)

    @cached_property
    def total_macs(self) -> int:
        """Multiply-accumulates of one inference."""
        return sum(self.macs(layer) for layer in self.layers)

    @cached_property
    def weights(self) -> frozenset[str]:
        """Names of the constants that are parameters of a layer, not operands."""
        return frozenset(name for layer in self.layers for name in layer.parameters)

    @cached_property
    def total_parameters(self) -> int:
        """Number of distinct weights and biases."""
        return sum(self.constants[name].elements for name in self.weights)

    def with_layers(
        self,
        layers: Iterable[Layer],
        tensors: Iterable[Tensor] = (),
        constants: Iterable[Constant] = (),
    ) -> Network:
        """Return the network with `layers`, new or changed `tensors` and `constants`.

        Tensors and constants that no layer names any more are dropped.
        """
        new_layers = tuple(layers)
        used = {
            name
            for layer in new_layers
            for name in (*layer.inputs, *layer.outputs, *layer.parameters, *layer.statistics)
        }
        used.update(self.inputs, self.outputs)
        all_tensors = {**self.tensors, **{tensor.name: tensor for tensor in tensors}}
        all_constants = {**self.constants, **{constant.name: constant for constant in constants}}
        return dataclasses.replace(
            self,
            layers=new_layers,
            tensors={n: t for n, t in all_tensors.items() if n in used},
            constants={n: c for n, c in all_constants.items() if n in used},
        )

    def boundary(self, layers: Sequence[Layer]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the tensors that `layers` read from outside, and those that are read outside."""
        written = {name for layer in layers for name in layer.outputs}
        inputs_read = dict.fromkeys(name for layer in layers for name in layer.inputs)
        names = {layer.name for layer in layers}
        inputs = tuple(n for n in inputs_read if n not in written and n in self.tensors)
        outputs = tuple(
            name
            for layer in layers
            for name in layer.outputs
            if name in self.outputs
            or any(reader.name not in names for reader in self.consumers.get(name, ()))
        )
        return inputs, outputs

    def subnetwork(
        self, layers: Sequence[Layer], inputs: Sequence[str], outputs: Sequence[str]
    ) -> Network:
        """Return the part of the network with `layers`, and its own inputs and outputs."""
        part = dataclasses.replace(self, inputs=tuple(inputs), outputs=tuple(outputs))
        return part.with_layers(layers)

    def without_values(self) -> Network:
        """Return the network without arrays, with only shapes and layers."""
        shapes = {name: constant.shape_only() for name, constant in self.constants.items()}
        return dataclasses.replace(self, constants=shapes)

    def check(self) -> None:
        """Raise InvalidDataError unless names, attributes, shapes and types are consistent."""
        consistency.check(self)
