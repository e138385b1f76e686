"""Makes layers between two 1-D or 3-D convolutions work on images.

A 1-D convolution is imported as reshape, 2-D convolution, reshape, over images of height one; a 3-D
one over the images of all depths. Layers that follow it channel by channel would come after the
reshape, where no convolution can absorb them. Tensors of 1-D layers, (N, L, C), are called
sequences here, and those of 3-D layers, (N, D, H, W, C), volumes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hexsim.graph.ir import Constant, Layer, Network, Shape, Tensor
from hexsim.layers import (
    Concat,
    Convert,
    Elementwise,
    Filtering,
    Normalization,
    Pad,
    Pooling,
    Reshape,
    Softmax,
    StridedSlice,
)
from hexsim.layers._per_pixel import PerPixel
from hexsim.passes._rewriter import Derived, names_of, with_names_kept
from hexsim.passes.dead_code import remove_dead_code
from hexsim.texts.names import new_name

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
    """Return the shape without leading ones."""
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
