"""Makes layers between 1-D or 3-D convolutions work on images, and those after products on rows.

A 1-D convolution is imported as reshape, 2-D convolution, reshape, over images of height one; a 3-D
one over the images of all depths. Layers that follow it channel by channel would come after the
reshape, where no convolution can absorb them. Tensors of 1-D layers, (N, L, C), are called
sequences here, and those of 3-D layers, (N, D, H, W, C), volumes. A product of a tensor of many
axes with a matrix is a FullyConnected between reshapes; biases and functions after it are moved to
work on the rows before the reshape. A Gather with one index gets the form of a slice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hexsim.graph.derived import Derived
from hexsim.graph.ir import Constant, Layer, Network, Shape, Tensor
from hexsim.layers import (
    AxisSlice,
    Concat,
    Convert,
    Elementwise,
    Filtering,
    FullyConnected,
    Neuron,
    Normalization,
    Pad,
    Pooling,
    Reshape,
    Softmax,
    StridedSlice,
)
from hexsim.layers._bases import PerPixel
from hexsim.passes._rewriter import is_private, names_of, with_names_kept
from hexsim.passes.rearrangements import remove_dead_code
from hexsim.texts.text import new_name

_SEQUENCE, _IMAGE, _VOLUME = 3, 4, 5
"""Numbers of axes: (N, L, C), (N, H, W, C), (N, D, H, W, C)."""
_HEIGHT = 1
"""The axis of size one that an image has and a sequence lacks."""
_ORDERS: Mapping[tuple[int, ...], tuple[int, ...]] = {
    (0, 1, 2): (0, 1, 2, 3),
    (0, 2, 1): (0, 2, 3, 1),
    (0, 2, 3, 4, 1): (0, 2, 3, 1),
}
"""The source axes of images, by those of their sequence or volume."""


def hoist_reshapes(network: Network) -> Network:
    """Move the reshapes from images to sequences and volumes as late as possible.

    1. A Reshape that removes the height of an image (N, 1, L, C), or makes volumes (N, D, H, W, C)
       from images (N * D, H, W, C), and reads the output of a convolution or a pooling, moves after
       readers that can work on images with the same result.
    2. A Reshape back to images is removed.
    3. An image takes the name of its sequence or volume, if no layer reads that any more.
    """
    walk = _ReshapeWalk(network)
    for layer in network.layers:
        walk.take(layer)
    if not walk.images:
        return network
    hoisted = network.with_layers(walk.layers, walk.tensors.values(), walk.constants.values())
    hoisted = remove_dead_code(hoisted)
    return with_names_kept(hoisted, walk.images)


class _ReshapeWalk:
    """The layers so far; `images` maps sequences and volumes to their images."""

    def __init__(self, network: Network) -> None:
        self.layers: list[Layer] = []
        self.images: dict[str, str] = {}
        self.tensors: dict[str, Tensor] = {}
        self.constants: dict[str, Constant] = {}
        self._network = network
        self._names = names_of(network)
        self._restored: dict[str, str] = {}
        self._image_names: set[str] = set()

    def take(self, layer: Layer) -> None:
        """Add `layer`, or its form on images."""
        inputs = tuple(self._restored.get(name, name) for name in layer.inputs)
        if self._restores(layer) and layer.output not in self._network.outputs:
            self._restored[layer.output] = self.images[layer.inputs[0]]
            return
        renamed = layer.replace(inputs=inputs)
        on_images = self._on_images(renamed)
        if on_images is None:
            self._keep(renamed)
            return
        image = self._image_of(layer.output)
        self._keep(on_images.replace(outputs=(image.name,)))
        self._image_names.add(image.name)
        shape = self._network.shape(layer.output)
        name = new_name(self._names, f"{layer.name}.line")
        self._keep(Reshape(name=name, inputs=(image.name,), outputs=layer.outputs, shape=shape))

    def _keep(self, layer: Layer) -> None:
        self.layers.append(layer)
        if isinstance(layer, Filtering | Pooling):
            self._image_names.add(layer.output)
        if not isinstance(layer, Reshape) or layer.inputs[0] not in self._image_names:
            return
        if _image(layer.shape) == self._shape(layer.inputs[0]):
            self.images[layer.output] = layer.inputs[0]

    def _restores(self, layer: Layer) -> bool:
        """Return whether `layer` reshapes a sequence or volume back to its image."""
        image = self.images.get(layer.inputs[0]) if layer.inputs else None
        return (
            isinstance(layer, Reshape) and image is not None and layer.shape == self._shape(image)
        )

    def _on_images(self, layer: Layer) -> Layer | None:
        """Return the form of `layer` on images; None if an input has no image, or there is none."""
        network = self._network
        tensors = [name for name in layer.inputs if name not in network.constants]
        if not tensors or any(name not in self.images for name in tensors):
            return None
        if any(not self._aligned(name, tensors[0]) for name in set(layer.inputs) - set(tensors)):
            return None
        if any(network.tensors[name].order not in _ORDERS for name in layer.outputs):
            return None
        parameters = [network.shape(name) for name in layer.parameters]
        if any(len(shape) >= _IMAGE for shape in parameters):
            return None
        on_images = _moved(layer, len(network.shape(tensors[0])))
        inputs = tuple(
            self.images.get(name) or self._as_image_constant(name) for name in layer.inputs
        )
        return None if on_images is None else on_images.replace(inputs=inputs)

    def _aligned(self, constant: str, tensor: str) -> bool:
        """Return whether a constant is broadcast to images as to sequences or volumes."""
        rank = len(self._network.shape(tensor))
        return len(_without_ones(self._network.shape(constant))) < min(rank, _IMAGE)

    def _as_image_constant(self, constant: str) -> str:
        """Return a constant with no more axes than an image."""
        shape = self._network.shape(constant)
        if len(shape) <= _IMAGE:
            return constant
        name, short_shape = f"{constant}.image", _without_ones(shape)
        if name not in self.constants:
            source = self._network.constants[constant]
            self.constants[name] = Derived(
                source, short_shape, lambda array: array.reshape(short_shape), name
            )
        return name

    def _image_of(self, line: str) -> Tensor:
        tensor = self._network.tensors[line]
        shape, order = _image(tensor.shape), _ORDERS[tensor.order]
        assert shape is not None, "only sequences and volumes have images"
        name = new_name(self._names, f"{line}.image")
        image = Tensor(name, shape, order, tensor.dtype)
        self.tensors[image.name] = image
        return image

    def _shape(self, name: str) -> Shape:
        return (self.tensors.get(name) or self._network.tensors[name]).shape


def _image(shape: Shape) -> Shape | None:
    """Return the shape of the images of a sequence or volume, None for anything else."""
    if len(shape) == _SEQUENCE:
        return (*shape[:_HEIGHT], 1, *shape[_HEIGHT:])
    return (shape[0] * shape[1], *shape[2:]) if len(shape) == _VOLUME else None


def _without_ones(shape: Shape) -> Shape:
    first = next((axis for axis, size in enumerate(shape) if size > 1), len(shape))
    return shape[first:]


def _axis(axis: int, rank: int) -> int | None:
    """Return the axis of images for one of a tensor of `rank` axes; None for batch and depth."""
    if rank == _SEQUENCE:
        return axis + (axis >= _HEIGHT)
    return axis - 1 if axis > 1 else None


def _axes(axes: Sequence[int], rank: int) -> tuple[int, ...] | None:
    """Return the axes of images for several axes; None if images lack one."""
    image_axes = [_axis(axis, rank) for axis in axes]
    known = tuple(axis for axis in image_axes if axis is not None)
    return known if len(known) == len(image_axes) else None


def _moved(layer: Layer, rank: int) -> Layer | None:
    """Return the layer for images of tensors of `rank` axes, None if there is none."""
    match layer:
        case PerPixel() | Elementwise() | Convert():
            return layer
        case Concat():
            axis = _axis(layer.axis, rank)
            return None if axis is None else layer.replace(axis=axis)
        case Softmax() | Normalization():
            axes = _axes(layer.axes, rank)
            return None if axes is None else layer.replace(axes=axes)
        case StridedSlice():
            axes = _axes([part.axis for part in layer.parts], rank)
            if axes is None:
                return None
            pairs = zip(layer.parts, axes, strict=True)
            return layer.replace(parts=tuple(replace(part, axis=axis) for part, axis in pairs))
        case Pad():
            begins, ends = (_padding(amounts, rank) for amounts in (layer.begins, layer.ends))
            return (
                None if begins is None or ends is None else layer.replace(begins=begins, ends=ends)
            )
        case _:
            return None


def _padding(amounts: tuple[int, ...], rank: int) -> tuple[int, ...] | None:
    """Return the padding of each axis of images; None if batch or depth of a volume grow."""
    if rank == _SEQUENCE:
        return (*amounts[:_HEIGHT], 0, *amounts[_HEIGHT:])
    return None if any(amounts[:2]) else (0, *amounts[2:])


_ROWS = 2
"""Number of axes of the output of a FullyConnected."""


def hoist_row_reshapes(network: Network) -> Network:
    """Move reshapes of rows behind functions, and behind sums and products with constants.

    Rows take the name of the tensor whose values they have, if nothing else has it.

    1. A Reshape of the output of a FullyConnected that keeps the last axis moves behind an
       element-wise function, or a sum, product or difference with a constant that is a scalar or
       has one number for each output, if no other layer reads the tensors between them.
    """
    walk = _RowWalk(network)
    for layer in network.layers:
        walk.take(layer)
    hoisted = network.with_layers(walk.layers.values(), walk.tensors, walk.constants)
    return with_names_kept(hoisted, walk.rows)


class _RowWalk:
    """The layers so far; `rows` maps tensors to those that have their values as rows."""

    def __init__(self, network: Network) -> None:
        self.layers: dict[str, Layer] = {}
        self.tensors: list[Tensor] = []
        self.constants: list[Constant] = []
        self.rows: dict[str, str] = {}
        self._network = network
        self._names = names_of(network)
        self._reshapes: dict[str, Reshape] = {}
        self._row_names: set[str] = set()

    def take(self, layer: Layer) -> None:
        """Add `layer`, perhaps before the reshape that it reads."""
        data = next((name for name in layer.inputs if name in self._reshapes), None)
        on_rows = None if data is None else self._on_rows(layer, data)
        if data is None or on_rows is None:
            self._keep(layer)
            return
        reshape = self._reshapes.pop(data)
        del self.layers[reshape.name]
        source = self._network.tensors[layer.outputs[0]]
        shape = (source.elements // source.shape[-1], source.shape[-1])
        name = new_name(self._names, f"{source.name}.rows")
        rows = Tensor(name, shape, dtype=source.dtype)
        inputs = tuple(reshape.inputs[0] if name == data else name for name in on_rows.inputs)
        self.tensors.append(rows)
        self.rows[source.name] = rows.name
        self._row_names.add(rows.name)
        self._keep(on_rows.replace(inputs=inputs, outputs=(rows.name,)))
        self._keep(reshape.replace(inputs=(rows.name,), outputs=layer.outputs))

    def _keep(self, layer: Layer) -> None:
        self.layers[layer.name] = layer
        if isinstance(layer, FullyConnected):
            self._row_names.add(layer.output)
        if (
            isinstance(layer, Reshape)
            and layer.inputs[0] in self._row_names
            and is_private(self._network, layer.output)
            and layer.shape[-1:] == self._network.shape(layer.output)[-1:]
            and self._is_of_rows(layer)
        ):
            self._reshapes[layer.output] = layer

    def _is_of_rows(self, layer: Reshape) -> bool:
        """Return whether it keeps the last axis, and no other layer reads the rows."""
        new_shapes = {tensor.name: tensor.shape for tensor in self.tensors}
        name = layer.inputs[0]
        shape = new_shapes.get(name) or self._network.shape(name)
        is_only_reader = name in new_shapes or is_private(self._network, name)
        return is_only_reader and len(shape) == _ROWS and layer.shape[-1:] == shape[-1:]

    def _on_rows(self, layer: Layer, data: str) -> Layer | None:
        """Return the form of `layer` on rows, None if it has none."""
        if isinstance(layer, Neuron):
            return layer
        if not isinstance(layer, Elementwise) or layer.kind not in ("sum", "product", "sub"):
            return None
        operands = [name for name in layer.inputs if name != data]
        if len(layer.inputs) != _ROWS or len(operands) != 1:
            return None
        constant = self._network.constants.get(operands[0])
        last = self._network.shape(data)[-1]
        if constant is None or self._network.shape(layer.output) != self._network.shape(data):
            return None
        if constant.elements != 1 and (constant.elements, constant.shape[-1]) != (last, last):
            return None
        flat_shape = () if constant.elements == 1 else (last,)
        if constant.shape == flat_shape:
            return layer
        name = new_name(self._names, f"{layer.name}.{constant.name}")
        self.constants.append(
            Derived(constant, flat_shape, lambda array: array.reshape(flat_shape), name)
        )
        inputs = tuple(name if input_ == constant.name else input_ for input_ in layer.inputs)
        return layer.replace(inputs=inputs)


def join_before_slices(network: Network) -> Network:
    """Join axes before they are sliced instead of after.

    1. A slice that takes one position of an axis, followed by a Reshape that joins this axis with
       the next one, becomes a Reshape that joins the two axes and a slice of the joined one. The
       slice keeps its name.
    2. Several such slices of one axis share the Reshape; it is named after the first.
    """
    names = names_of(network)
    axes = {layer.name: _joined_axis(layer, network) for layer in network.layers}
    layers: list[Layer] = []
    tensors: list[Tensor] = []
    reshaped: dict[tuple[str, int], str] = {}
    absorbed: set[str] = set()
    for layer in network.layers:
        axis = axes[layer.name]
        if layer.name in absorbed:
            continue
        if axis is None:
            layers.append(layer)
            continue
        assert isinstance(layer, StridedSlice)
        (reshape,) = network.consumers[layer.output]
        (source,) = layer.inputs
        shape = _joined(network.shape(source), axis)
        if (source, axis) not in reshaped:
            name = new_name(names, f"{layer.name}.joined")
            reshaped[source, axis] = name
            tensors.append(Tensor(name, shape, dtype=network.tensors[source].dtype))
            layers.append(Reshape(name=name, inputs=(source,), outputs=(name,), shape=shape))
        (part,), size = layer.parts, network.shape(source)[axis + 1]
        start = part.start * size
        absorbed.add(reshape.name)
        layers.append(
            layer.replace(
                inputs=(reshaped[source, axis],),
                outputs=reshape.outputs,
                fused=(*layer.fused, reshape.name, *reshape.fused),
                parts=(AxisSlice(axis, start, start + size, 1),),
            )
        )
    return network.with_layers(layers, tensors)


def _joined_axis(layer: Layer, network: Network) -> int | None:
    """Return the axis that is sliced to one position and then joined with the next."""
    if not isinstance(layer, StridedSlice) or len(layer.parts) != 1:
        return None
    if layer.inputs[0] not in network.tensors or not is_private(network, layer.output):
        return None
    (part,), shape = layer.parts, network.shape(layer.output)
    (reader,) = network.consumers[layer.output]
    axis = part.axis
    if shape[axis] != 1 or axis == len(shape) - 1 or not isinstance(reader, Reshape):
        return None
    return axis if reader.shape == _joined(shape, axis) else None


def _joined(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
