"""The masks of a network: what holds very small numbers, and what these are added to.

A mask is a constant that only reaches softmaxes through additions, or the product of such a
constant with a tensor (as in `(1 - mask) * -10000`). It is the same rule for infinite numbers and
for those that are merely large.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import Elementwise
from hexsim.quantization.masks.paths import directions, signs_of_operands

Array = npt.NDArray[Any]

LARGE = 50.0
"""What is so far below zero masks: e^-50 is nothing beside one, even in double (our choice)."""
_IN_FLOATS = 1e4
"""What masks hold at most while floats are calibrated: the other addend keeps three decimals."""


@dataclass(frozen=True)
class Masks:
    """The masks of `network`, by name, with all that they are added to or chosen into.

    `signs` is 1 for what is added to a softmax and -1 for what is subtracted; where it is -1, a
    mask holds large numbers.
    """

    network: Network
    signs: Mapping[str, int]

    @classmethod
    def of(cls, network: Network) -> Masks:
        """Find them, where a large number that several layers read is a mask for each by itself."""
        masks = cls(network, directions(network))
        apart = with_numbers_apart(network)
        if apart is network:
            return masks
        others = cls(apart, directions(apart))
        return others if others.holding > masks.holding else masks

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """The constants that hold masking numbers."""
        return tuple(
            name
            for name, sign in self.signs.items()
            if name in self.network.constants and self._masks(name, sign)
        )

    @cached_property
    def products(self) -> Mapping[str, str]:
        """The products with a large constant, each with that constant."""
        return dict(self._products())

    @cached_property
    def sums(self) -> tuple[Layer, ...]:
        """The layers that add, choose or move what holds masks, in order."""
        holding, layers = {*self.constants, *self.products}, []
        for layer in self.network.layers if holding else ():
            if layer.output not in self.signs or not signs_of_operands(layer):
                continue
            if any(name in holding for name in layer.inputs):
                holding.add(layer.output)
                layers.append(layer)
        return tuple(layers)

    @cached_property
    def holding(self) -> frozenset[str]:
        """The masks, and the tensors that are made of them."""
        sums = (layer.output for layer in self.sums)
        return frozenset((*self.constants, *self.products, *sums))

    def with_finite(self) -> Network:
        """The network for calibrating: no constant is infinite, nor so large that sums round."""
        large = [name for name in self.constants if self.reaches(name, -_IN_FLOATS)]
        return self.with_capped(dict.fromkeys(large, -_IN_FLOATS)) if large else self.network

    def with_capped(self, lowest: Mapping[str, float]) -> Network:
        """The network whose masks hold no less than `lowest`, by the name of the mask.

        A constant that is subtracted holds no more than the negative of it, and the constant of a
        product keeps its sign and is as far from zero as the lowest of its products.
        """
        bounds: dict[str, float] = {}
        for name, low in lowest.items():
            constant = self.products.get(name, name)
            bounds[constant] = min(low, bounds.get(constant, low))
        changed = [
            self.network.constants[name].derive(
                self.network.shape(name), partial(_capped, sign=self.signs.get(name, 0), low=low)
            )
            for name, low in bounds.items()
        ]
        return self.network.with_layers(self.network.layers, constants=changed)

    def reaches(self, name: str, low: float) -> bool:
        """Whether mask `name` holds anything lower than `low`."""
        value: Array = self.network.constants[self.products.get(name, name)].value()
        lowest = -abs(value) if name in self.products else self.signs[name] * value
        return bool((lowest < low).any())

    def _masks(self, name: str, sign: int) -> bool:
        constant = self.network.constants[name]
        if constant.dtype != "float32":
            return False
        value: Array = constant.value()
        return bool((sign * value <= -LARGE).any())

    def _products(self) -> Iterator[tuple[str, str]]:
        for name, constant in self.network.constants.items():
            readers = self.network.consumers.get(name, ())
            if not readers or not all(map(self._is_plain_product, readers)):
                continue
            if _is_large(constant) and np.isfinite(constant.value()).all():
                yield from ((layer.output, name) for layer in readers)

    def _is_plain_product(self, layer: Layer) -> bool:
        """True for a product of two that only reaches softmaxes."""
        is_product = isinstance(layer, Elementwise) and layer.kind == "product"
        return is_product and len(set(layer.inputs)) == 2 and layer.output in self.signs


def with_numbers_apart(network: Network) -> Network:
    """Give each reader of a large constant of one number a constant of its own."""
    shared = {
        name
        for name, readers in network.consumers.items()
        if name in network.constants and len(readers) > 1 and _is_large(network.constants[name])
    }
    if not shared:
        return network
    layers, added, seen = [], [], set[str]()
    for layer in network.layers:
        own = {}
        for name in shared.intersection(layer.inputs):
            if name in seen:
                own[name] = _unused(f"{name} of {layer.name}", network)
                constant = network.constants[name]
                added.append(constant.derive(constant.shape, np.asarray, name=own[name]))
            seen.add(name)
        inputs = tuple(own.get(name, name) for name in layer.inputs)
        layers.append(layer.replace(inputs=inputs) if own else layer)
    return network.with_layers(layers, constants=added)


def _is_large(constant: Constant) -> bool:
    if constant.elements != 1 or constant.dtype != "float32":
        return False
    return abs(float(constant.value().item())) >= LARGE


def _unused(name: str, network: Network) -> str:
    while name in network.constants or name in network.tensors:
        name += "'"
    return name


def clipped(array: Array, sign: int, low: float) -> Array:
    """Numbers not below `low` if `sign` is 1, not above `-low` if it is -1."""
    bound = np.asarray(sign * low, array.dtype)
    result: Array = np.maximum(array, bound) if sign > 0 else np.minimum(array, bound)
    return result


def _capped(array: Array, sign: int, low: float) -> Array:
    return clipped(array, sign, low) if sign else np.clip(array, -abs(low), abs(low))
