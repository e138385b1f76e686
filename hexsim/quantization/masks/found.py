"""The masks of a network, and the tensors to which they are added.

A mask is a constant of very low numbers that only reaches softmaxes through additions, or the
product of such a constant with a tensor (as in `(1 - mask) * -10000`). The rule is the same for
infinite and for large numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.quantization.masks.paths import paths, signs_of_operands

Array = npt.NDArray[Any]

LARGE = 50.0
"""Distance below zero from which a number masks: e^-50 vanishes beside one even in float64.

Our choice."""
_IN_FLOATS = 1e4
"""Largest magnitude of masks during calibration: the other addend keeps three decimals."""


@dataclass(frozen=True)
class Masks:
    """The masks of `network`, by name, and the tensors into which they are added or selected.

    `signs` is 1 for tensors that are added on the way to a softmax and -1 for those subtracted; a
    mask with -1 holds large numbers. `products` maps masks that are the product of a tensor and a
    large constant to that constant.
    """

    network: Network
    signs: Mapping[str, int]
    products: Mapping[str, str]

    @classmethod
    def of(cls, network: Network) -> Masks:
        """Find the masks of a network."""
        softmax_paths = paths(network, _is_large)
        return cls(network, softmax_paths.signs, softmax_paths.factors)

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """The constants that hold masking numbers."""
        return tuple(
            name
            for name, sign in self.signs.items()
            if name in self.network.constants and self._masks(name, sign)
        )

    @cached_property
    def sums(self) -> tuple[Layer, ...]:
        """The layers that add, select or move tensors with masks, in order."""
        holding, layers = {*self.constants, *self.products}, []
        for layer in self.network.layers if holding else ():
            if not signs_of_operands(layer) or layer.outputs[0] not in self.signs:
                continue
            if any(name in holding for name in layer.inputs):
                holding.add(layer.output)
                layers.append(layer)
        return tuple(layers)

    @cached_property
    def holding(self) -> frozenset[str]:
        """The masks, and the tensors that are computed from them."""
        sums = (layer.output for layer in self.sums)
        return frozenset((*self.constants, *self.products, *sums))

    def with_finite(self) -> Network:
        """Return the network for calibration, without constants so large that sums are rounded."""
        factors = set(self.products.values())  # the large factors show which products are masks
        addends = [name for name in self.constants if name not in factors]
        large = [name for name in addends if self.reaches(name, -_IN_FLOATS)]
        return self.with_capped(dict.fromkeys(large, -_IN_FLOATS)) if large else self.network

    def with_capped(self, lowest: Mapping[str, float]) -> Network:
        """Return the network with each mask capped at its value in `lowest`.

        A constant that is subtracted is capped at the negative value. The constant of a product
        keeps its sign and gets the magnitude of the lowest of its products.
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

    def with_those_of(self, other: Network) -> Network:
        """Return the network with its masks capped as those of `other` with the same names are."""
        lowest = {}
        for name in (*self.constants, *self.products):
            constant = other.constants.get(self.products.get(name, name))
            if constant is None:
                continue
            value: Array = constant.value()
            low = float((-abs(value) if name in self.products else self.signs[name] * value).min())
            if self.reaches(name, low):
                lowest[name] = low
        return self.with_capped(lowest) if lowest else self.network

    def reaches(self, name: str, low: float) -> bool:
        """Return whether mask `name` holds a number lower than `low`."""
        value: Array = self.network.constants[self.products.get(name, name)].value()
        lowest = -abs(value) if name in self.products else self.signs[name] * value
        return bool((lowest < low).any())

    def _masks(self, name: str, sign: int) -> bool:
        constant = self.network.constants[name]
        if constant.dtype != "float32":
            return False
        value: Array = constant.value()
        return bool((sign * value <= -LARGE).any())


def _is_large(constant: Constant) -> bool:
    if constant.elements != 1 or constant.dtype != "float32":
        return False
    return LARGE <= abs(float(constant.value().item())) < np.inf


def clipped(array: Array, sign: int, low: float) -> Array:
    """Return numbers not below `low` if `sign` is 1, or not above `-low` if it is -1."""
    bound = np.asarray(sign * low, array.dtype)
    result: Array = np.maximum(array, bound) if sign > 0 else np.minimum(array, bound)
    return result


def _capped(array: Array, sign: int, low: float) -> Array:
    return clipped(array, sign, low) if sign else np.clip(array, -abs(low), abs(low))
