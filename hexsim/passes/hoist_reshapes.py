"""Lets what lies between two convolutions of lines, or of volumes, work on their images.

A 1-D convolution is read as reshape, 2-D convolution, reshape, over images of height one; a 3-D one
over the images of all depths, one behind the other. What follows it channel by channel would stand
behind the reshape, where no convolution can absorb it.
"""

from __future__ import annotations

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
from hexsim.passes._rewriter import names_of, new_name
from hexsim.passes.dead_code import remove_dead_code

_LINE, _IMAGE, _VOLUME = 3, 4, 5
"""How many axes each has: (N, L, C), (N, H, W, C), (N, D, H, W, C)."""
_AT = 1
"""The axis of size one that an image has and a line lacks."""
_ORDERS: Mapping[tuple[int, ...], tuple[int, ...]] = {
    (0, 1, 2): (0, 1, 2, 3),
    (0, 2, 1): (0, 2, 3, 1),
    (0, 2, 3, 4, 1): (0, 2, 3, 1),
}
"""By the source axes of a line or volume, those of its images."""


def hoist_reshapes(network: Network) -> Network:
    """Move the reshapes from images to lines and volumes as far back as they go.

    1. A Reshape that takes the height from an image (N, 1, L, C), or makes volumes (N, D, H, W, C)
       of images (N * D, H, W, C), which a convolution or a pooling writes, goes behind those
       readers that can do to images what they do to lines or volumes.
    2. A Reshape that makes images of them again is no layer.
    3. An image takes the name of its line or volume, if nobody reads that any more.
    """
    walk = _ReshapeWalk(network)
    for layer in network.layers:
        walk.take(layer)
    if not walk.images:
        return network
    lifted = network.with_layers(walk.layers, walk.tensors.values(), walk.constants.values())
    lifted = remove_dead_code(lifted)
    return _renamed(lifted, walk.images)


class _ReshapeWalk:
    """The layers so far; `images` has the image of every line or volume that has one."""

    def __init__(self, network: Network) -> None:
        self.layers: list[Layer] = []
        self.images: dict[str, str] = {}
        self.tensors: dict[str, Tensor] = {}
        self.constants: dict[str, Constant] = {}
        self._network = network
        self._names = names_of(network)
        self._again: dict[str, str] = {}
        self._written: set[str] = set()

    def take(self, layer: Layer) -> None:
        """Add `layer`, or what it is on images."""
        inputs = tuple(self._again.get(name, name) for name in layer.inputs)
        if self._restores(layer) and layer.output not in self._network.outputs:
            self._again[layer.output] = self.images[layer.inputs[0]]
            return
        read = layer.replace(inputs=inputs)
        on_images = self._on_images(read)
        if on_images is None:
            self._keep(read)
            return
        image = self._image_of(layer.output)
        self._keep(on_images.replace(outputs=(image.name,)))
        self._written.add(image.name)
        shape = self._network.shape(layer.output)
        name = new_name(self._names, f"{layer.name}.line")
        self._keep(Reshape(name=name, inputs=(image.name,), outputs=layer.outputs, shape=shape))

    def _keep(self, layer: Layer) -> None:
        self.layers.append(layer)
        if isinstance(layer, Filtering | Pooling):
            self._written.add(layer.output)
        if not isinstance(layer, Reshape) or layer.inputs[0] not in self._written:
            return
        if _image(layer.shape) == self._shape(layer.inputs[0]):
            self.images[layer.output] = layer.inputs[0]

    def _restores(self, layer: Layer) -> bool:
        """True if `layer` makes of a line or volume the image that it was."""
        image = self.images.get(layer.inputs[0]) if layer.inputs else None
        return (
            isinstance(layer, Reshape) and image is not None and layer.shape == self._shape(image)
        )

    def _on_images(self, layer: Layer) -> Layer | None:
        """What `layer` is on images; None if it reads other things, or cannot."""
        network = self._network
        lines = [name for name in layer.inputs if name not in network.constants]
        if not lines or any(name not in self.images for name in lines):
            return None
        if any(not self._aligned(name, lines[0]) for name in set(layer.inputs) - set(lines)):
            return None
        if any(network.tensors[name].order not in _ORDERS for name in layer.outputs):
            return None
        parameters = [network.shape(name) for name in layer.parameters]
        if any(len(shape) >= _IMAGE for shape in parameters):
            return None
        moved = _moved(layer, len(network.shape(lines[0])))
        inputs = tuple(self.images.get(name) or self._short(name) for name in layer.inputs)
        return None if moved is None else moved.replace(inputs=inputs)

    def _aligned(self, constant: str, line: str) -> bool:
        """True if a constant is broadcast to images as to lines or volumes."""
        rank = len(self._network.shape(line))
        return len(_without_ones(self._network.shape(constant))) < min(rank, _IMAGE)

    def _short(self, constant: str) -> str:
        """A constant with no more axes than an image."""
        shape = self._network.shape(constant)
        if len(shape) <= _IMAGE:
            return constant
        name, short = f"{constant}.image", _without_ones(shape)
        if name not in self.constants:
            source = self._network.constants[constant]
            made = source.derive(short, lambda array: array.reshape(short), name)
            self.constants[name] = made
        return name

    def _image_of(self, line: str) -> Tensor:
        tensor = self._network.tensors[line]
        shape, order = _image(tensor.shape), _ORDERS[tensor.order]
        assert shape is not None, "only lines and volumes have images"
        name = new_name(self._names, f"{line}.image")
        image = Tensor(name, shape, order, tensor.dtype)
        self.tensors[image.name] = image
        return image

    def _shape(self, name: str) -> Shape:
        return (self.tensors.get(name) or self._network.tensors[name]).shape


def _image(shape: Shape) -> Shape | None:
    """The shape of the images of a line or volume, None for anything else."""
    if len(shape) == _LINE:
        return (*shape[:_AT], 1, *shape[_AT:])
    return (shape[0] * shape[1], *shape[2:]) if len(shape) == _VOLUME else None


def _without_ones(shape: Shape) -> Shape:
    """The shape without leading ones."""
    first = next((axis for axis, size in enumerate(shape) if size > 1), len(shape))
    return shape[first:]


def _axis(axis: int, rank: int) -> int | None:
    """Where images have an axis of a line or volume of `rank` axes; None for batch and depth."""
    if rank == _LINE:
        return axis + (axis >= _AT)
    return axis - 1 if axis > 1 else None


def _axes(axes: Sequence[int], rank: int) -> tuple[int, ...] | None:
    """The same for several axes; None if images lack one."""
    moved = [_axis(axis, rank) for axis in axes]
    found = tuple(axis for axis in moved if axis is not None)
    return found if len(found) == len(moved) else None


def _moved(layer: Layer, rank: int) -> Layer | None:
    """The layer for the images of tensors of `rank` axes, None if it is of a type that cannot."""
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
            begins, ends = (_padding(given, rank) for given in (layer.begins, layer.ends))
            return (
                None if begins is None or ends is None else layer.replace(begins=begins, ends=ends)
            )
        case _:
            return None


def _padding(given: tuple[int, ...], rank: int) -> tuple[int, ...] | None:
    """What is added to each axis of images; None if batch or depth of a volume grow."""
    if rank == _LINE:
        return (*given[:_AT], 0, *given[_AT:])
    return None if any(given[:2]) else (0, *given[2:])


def _renamed(network: Network, images: Mapping[str, str]) -> Network:
    """Give images the names of their lines, where nothing else has them."""
    ends = (*network.inputs, *network.outputs)
    names = {
        image: line
        for line, image in images.items()
        if line not in network.tensors and image in network.tensors and image not in ends
    }
    layers = [
        layer.replace(
            inputs=tuple(names.get(name, name) for name in layer.inputs),
            outputs=tuple(names.get(name, name) for name in layer.outputs),
        )
        for layer in network.layers
    ]
    tensors = [replace(network.tensors[image], name=line) for image, line in names.items()]
    return network.with_layers(layers, tensors)
