"""Lets what lies between two convolutions of lines work on the images of height one that they are.

A 1-D convolution is read as reshape, 2-D convolution, reshape. What follows it channel by channel
would stand behind the reshape, where no convolution can absorb it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hexsim.graph.ir import Layer, Network, Shape, Tensor
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

_AT = 1
"""The axis of size one that an image has and a line lacks."""
_ORDERS: Mapping[tuple[int, ...], tuple[int, ...]] = {
    (0, 1, 2): (0, 1, 2, 3),
    (0, 2, 1): (0, 2, 3, 1),
}
"""By the source axes of a line, those of its image."""


def lift_lines(network: Network) -> Network:
    """Move the reshapes from images to lines as far back as they go.

    1. A Reshape that takes the height from an image (N, 1, L, C) which a convolution or a pooling
       writes goes behind those readers that can do to images what they do to lines.
    2. A Reshape that gives the height back is no layer.
    3. An image takes the name of its line, if nobody reads the line any more.
    """
    walk = _Walk(network)
    for layer in network.layers:
        walk.take(layer)
    if not walk.images:
        return network
    lifted = remove_dead_code(network.with_layers(walk.layers, walk.tensors.values()))
    return _renamed(lifted, walk.images)


class _Walk:
    """The layers so far; `images` has the image of every line that has one."""

    def __init__(self, network: Network) -> None:
        self.layers: list[Layer] = []
        self.images: dict[str, str] = {}
        self.tensors: dict[str, Tensor] = {}
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
        if isinstance(layer, Reshape) and layer.inputs[0] in self._written:
            shape = self._shape(layer.inputs[0])
            if len(shape) == len(layer.shape) + 1 and _with_height(layer.shape) == shape:
                self.images[layer.output] = layer.inputs[0]

    def _restores(self, layer: Layer) -> bool:
        """True if `layer` makes of a line the image that it was."""
        image = self.images.get(layer.inputs[0]) if layer.inputs else None
        return (
            isinstance(layer, Reshape) and image is not None and layer.shape == self._shape(image)
        )

    def _on_images(self, layer: Layer) -> Layer | None:
        """What `layer` is on images; None if it reads other things, or is of a type that cannot."""
        network = self._network
        lines = [name for name in layer.inputs if name not in network.constants]
        if not lines or any(name not in self.images for name in lines):
            return None
        if any(not self._aligned(name, lines[0]) for name in set(layer.inputs) - set(lines)):
            return None
        if any(network.tensors[name].order not in _ORDERS for name in layer.outputs):
            return None
        moved = _with_axis(layer)
        inputs = tuple(self.images.get(name, name) for name in layer.inputs)
        return None if moved is None else moved.replace(inputs=inputs)

    def _aligned(self, constant: str, line: str) -> bool:
        """True if a constant is broadcast to images as to lines."""
        given = list(self._network.shape(constant))
        while given and given[0] == 1:
            del given[0]
        return len(given) < len(self._network.shape(line))

    def _image_of(self, line: str) -> Tensor:
        tensor = self._network.tensors[line]
        shape, order = _with_height(tensor.shape), _ORDERS[tensor.order]
        name = new_name(self._names, f"{line}.image")
        image = Tensor(name, shape, order, tensor.dtype)
        self.tensors[image.name] = image
        return image

    def _shape(self, name: str) -> Shape:
        return (self.tensors.get(name) or self._network.tensors[name]).shape


def _with_height(shape: Shape) -> Shape:
    return (*shape[:_AT], 1, *shape[_AT:])


def _moved(axis: int) -> int:
    return axis + (axis >= _AT)


def _with_axis(layer: Layer) -> Layer | None:
    """The layer for tensors of one axis more, None if it is of a type that cannot."""
    match layer:
        case PerPixel() | Elementwise() | Convert():
            return layer
        case Concat():
            return layer.replace(axis=_moved(layer.axis))
        case Softmax() | Normalization():
            return layer.replace(axes=tuple(map(_moved, layer.axes)))
        case StridedSlice():
            parts = tuple(replace(part, axis=_moved(part.axis)) for part in layer.parts)
            return layer.replace(parts=parts)
        case Pad():
            begins, ends = ((*given[:_AT], 0, *given[_AT:]) for given in (layer.begins, layer.ends))
            return layer.replace(begins=begins, ends=ends)
        case _:
            return None


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
