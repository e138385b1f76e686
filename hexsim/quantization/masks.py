"""Masks: numbers that are added, or chosen, so that a softmax gives zero.

A softmax gives the same for every number that is low enough beside the largest of its row; so do a
maximum, the places of the largest numbers, and an exponential function. So if a tensor only reaches
these, through layers that add, select or move numbers, the values of its low numbers do not matter;
if it is subtracted on the way, those of its large ones. A mask is a constant of very low numbers of
this kind, or the product of such a constant with a tensor (as in `(1 - mask) * -10000`). A constant
that also reaches other layers, as a number that exporters share does, is capped for those uses
alone that reach a softmax.

Masks are capped at the lowest value that has an effect on the calibration inputs. In a row of n
numbers, those that lie ln(2^17 n) below the largest give less than half a step of 16 bits after
softmax, all together. Unless all numbers of a row are masked, its largest is at least the smallest
number that is not masked, which the float network shows. So

- the input of a softmax has to reach down to that smallest number minus ln(2^17 n);
- that of an exponential function, whose numbers share one step, to the largest minus ln(2^17);
- where only the order counts, somewhat below that smallest number;
- an addend of a sum has to reach as far as the sum, minus the most that the others add;
- an operand that is selected or moved has to reach as far as the result.

A row that is masked entirely becomes the row without its mask, or the same number everywhere if the
mask was selected instead of added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import ArgExtremum, Concat, Elementwise, Neuron, Opaque, Reduce, Softmax
from hexsim.records import dataclass, field

_MOVING = frozenset(
    {"Expand", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
)
"""Operators of opaque layers that only move the numbers of their first input."""


def signs_of_operands(layer: Layer) -> Sequence[tuple[str, int]] | None:
    """Return the operands that a layer adds, selects from or moves (1) or subtracts (-1).

    The result is None for any other layer.
    """
    match layer:
        case Elementwise(kind="sub"):
            first, *others = layer.inputs
            return [(first, 1), *((name, -1) for name in others)]
        case Elementwise(kind="sum" | "max" | "min") | Concat() | Neuron(function="clamp"):
            return [(name, 1) for name in layer.inputs]
        case Neuron(function="neg"):
            return [(layer.inputs[0], -1)]
        case Opaque(op_type="Where"):
            return [(name, 1) for name in layer.inputs[1:]]
        case Opaque():
            return [(layer.inputs[0], 1)] if layer.op_type in _MOVING else None
        case _:
            return [(name, 1) for name in layer.inputs] if layer.moves_codes else None


def sign_at_end(layer: Layer) -> int:
    """Return 1 for a layer that ignores the values of low numbers, -1 of large ones, else 0.

    TopK does so if nobody reads the numbers that it takes.
    """
    match layer:
        case Softmax() | ArgExtremum(kind="max") | Reduce(kind="max") | Neuron(function="exp"):
            return 1
        case ArgExtremum(kind="min") | Reduce(kind="min"):
            return -1
        case Opaque(op_type="TopK"):
            import onnx  # late: few networks have such a layer

            attributes = onnx.NodeProto.FromString(layer.node).attribute
            return -1 if any(a.name == "largest" and a.i == 0 for a in attributes) else 1
        case _:
            return 0


@dataclass(frozen=True)
class MaskPaths:
    """Tensors and constants that only reach softmaxes through additions.

    `signs` maps their names to 1 if they are added and to -1 if they are subtracted. `factors` maps
    products of such tensors with a large constant of one number to the name of that constant.
    """

    signs: Mapping[str, int]
    factors: Mapping[str, str]


def paths(network: Network, is_large: Callable[[Constant], bool]) -> MaskPaths:
    """Follow the layers backwards; `is_large` selects constants that may be factors of masks.

    A constant that is a factor as well as an addend is treated as an addend.
    """
    uses: dict[str, set[int]] = {name: {0} for name in network.outputs}
    known: dict[str, int] = {}
    factors: dict[str, str] = {}

    def sign_of(name: str) -> int:
        if name not in known:
            signs = uses.get(name, {0})
            known[name] = next(iter(signs)) if len(signs) == 1 else 0
        return known[name]

    for layer in reversed(network.layers):
        signs = dict.fromkeys(layer.inputs, 0) | _signs_of_uses(layer, sign_of, uses)
        is_product = isinstance(layer, Elementwise) and layer.kind == "product"
        for name in layer.inputs if is_product and len(set(layer.inputs)) == 2 else ():
            constant = network.constants.get(name)
            if constant is not None and is_large(constant) and sign_of(layer.output):
                factors[layer.output] = name
                del signs[name]
        for name, sign in signs.items():
            uses.setdefault(name, set()).add(sign)
    return MaskPaths(
        {name: sign for name in uses if (sign := sign_of(name))},
        {name: factor for name, factor in factors.items() if factor not in uses or sign_of(factor)},
    )


def _signs_of_uses(
    layer: Layer, sign_of: Callable[[str], int], read: Container[str]
) -> dict[str, int]:
    """Return the signs with which the operands of a layer reach softmaxes, if they do."""
    if end := sign_at_end(layer):
        gives_numbers = isinstance(layer, Opaque) and layer.outputs[0] in read
        return {} if gives_numbers else {layer.inputs[0]: end}
    passed = signs_of_operands(layer)
    if not passed or len(layer.outputs) != 1 or len(dict(passed)) < len(passed):
        return {}
    return {name: sign * sign_of(layer.output) for name, sign in passed}


Array = npt.NDArray[Any]

LARGE = 50.0
"""Distance below zero from which a number masks: e^-50 vanishes beside one even in float64.

Our choice."""
_IN_FLOATS = 1e4
"""Largest magnitude of masks during calibration: the other addend keeps three decimals."""


@dataclass(frozen=True)
class Masks:
    """The masks of `network`, by name, and the tensors into which they are added or selected.

    `network` is `given`, but for constants of their own for uses that reach softmaxes.
    `signs` is 1 for tensors that are added on the way to a softmax and -1 for those subtracted; a
    mask with -1 holds large numbers. `products` maps masks that are the product of a tensor and a
    large constant to that constant.
    """

    given: Network
    network: Network
    signs: Mapping[str, int]
    products: Mapping[str, str]

    @classmethod
    def of(cls, network: Network, fixed: Container[str] = ()) -> Masks:
        """Find the masks of a network; constants that are `fixed` get no others for some uses."""
        softmax_paths = paths(network, _is_large)
        own = _with_own_masks(network, softmax_paths, fixed)
        if own is not network:
            softmax_paths = paths(own, _is_large)
        return cls(network, own, softmax_paths.signs, softmax_paths.factors)

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """The constants that hold masking numbers."""
        return tuple(
            name
            for name, sign in self.signs.items()
            if name in self.network.constants and _masks(self.network.constants[name], sign)
        )

    @cached_property
    def sums(self) -> tuple[Layer, ...]:
        """The layers that add, select or move tensors with masks, in order."""
        holding, layers = {*self.constants, *self.products}, []
        for layer in self.network.layers if holding else ():
            sign = self.signs.get(layer.outputs[0], 0)
            passed = (signs_of_operands(layer) if sign else None) or ()
            if any(name in holding and own * sign == self.signs[name] for name, own in passed):
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
        return self.with_capped(dict.fromkeys(large, -_IN_FLOATS)) if large else self.given

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
        return self.with_capped(lowest) if lowest else self.given

    def reaches(self, name: str, low: float) -> bool:
        """Return whether mask `name` holds a number lower than `low`."""
        value: Array = self.network.constants[self.products.get(name, name)].value()
        lowest = -abs(value) if name in self.products else self.signs[name] * value
        return bool((lowest < low).any())


def _masks(constant: Constant, sign: int) -> bool:
    return constant.dtype == "float32" and bool((sign * constant.value() <= -LARGE).any())


def _with_own_masks(network: Network, ways: MaskPaths, fixed: Container[str]) -> Network:
    """Return `network` with a constant of its own for masks that other layers read too."""
    layers, own = [], dict[str, Constant]()
    known = {*ways.signs, *ways.factors.values()}
    for layer in network.layers:
        signs = _signs_of_uses(layer, lambda name: ways.signs.get(name, 0), network.consumers)
        renamed = dict[str, str]()
        for name, sign in signs.items():
            constant = network.constants.get(name)
            if not sign or constant is None or name in known or name in fixed:
                continue
            if _masks(constant, sign):
                renamed[name] = f"{name}.{'added' if sign > 0 else 'subtracted'}"
                own[renamed[name]] = constant.derive(constant.shape, np.array, renamed[name])
        inputs = tuple(renamed.get(name, name) for name in layer.inputs)
        layers.append(layer.replace(inputs=inputs) if renamed else layer)
    return network.with_layers(layers, constants=own.values()) if own else network


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


Interval = tuple[float, float]
"""Smallest and largest number that is not masked; the sign is changed if it is subtracted."""
_HALF_A_STEP_OF_16_BITS = 2.0**-17
_BELOW_ALL = 1 / 64
"""Share of a range by which masks lie below it if only the order counts: four steps of 8 bits.

Our choice."""


@dataclass
class Caps:
    """The caps of a network's masks over all calibration inputs.

    A product is not capped if its other factor held a number other than zero and one. A mask whose
    encoding is `overridden` stays as it is: a cap may be less than a step of it.
    """

    masks: Masks
    overridden: frozenset[str] = frozenset()
    lowest: dict[str, float] = field(default_factory=dict)
    _others: set[str] = field(default_factory=set)

    def capped(self, arrays: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return all tensors of one inference with its masks capped."""
        inference = RequiredMaskRanges(self.masks, arrays)
        for name, low in inference.needs.items():
            if name in self.masks.constants or name in self.masks.products:
                self.lowest[name] = min(low, self.lowest.get(name, low))
        self._others |= self.masks.products.keys() - inference.unmasked.keys()
        return {**arrays, **inference.capped()}

    def network(self, network: Network) -> Network:
        """Return `network` with capped masks; the same object if no mask changes."""
        changed = self._changed()
        return self.masks.with_capped(changed) if changed else network

    def notes(self) -> tuple[str, ...]:
        """Return a sentence for each mask that `network` caps."""
        signs = self.masks.signs
        return tuple(
            f"the mask '{name}' was capped at {signs[name] * low:.4g}: beyond it nothing that "
            "reads it changes, at 8 and at 16 bits"
            for name, low in self._changed().items()
        )

    def uncapped(self) -> tuple[str, ...]:
        """Return the constant masks that inputs have to cap."""
        holds_sums = bool(self.masks.sums)
        return tuple(n for n in self.masks.constants if holds_sums and n not in self.overridden)

    def _changed(self) -> dict[str, float]:
        products = self.masks.products
        fixed = {products[name] for name in self._others}
        return {
            name: low
            for name, low in self.lowest.items()
            if products.get(name, name) not in fixed | self.overridden
            and name not in self.overridden
            and math.isfinite(low)
            and self.masks.reaches(name, low)
        }


class RequiredMaskRanges:
    """The range that masks need for the numbers of one inference; `arrays` are in stored order.

    `unmasked` maps tensors with masks to the interval of the numbers that are not masked, if it is
    known. `needs` maps masks to the number they have to reach down to. Signs are changed for
    tensors that are subtracted.
    """

    def __init__(self, masks: Masks, arrays: Mapping[str, Array]) -> None:
        self._masks, self._arrays = masks, arrays
        self.unmasked: dict[str, Interval] = {}
        for name in masks.constants:
            reals = masks.signs[name] * self._array(name)
            if (reals > -LARGE).any():
                self.unmasked[name] = _extremes(reals[reals > -LARGE])
        for name, factor in masks.products.items():
            if _is_switched(self._array(name), masks.signs[name], self._array(factor)):
                self.unmasked[name] = (0.0, 0.0)
        for layer in masks.sums:
            interval = self._of_sum(layer) if _adds(layer) else self._of_choice(layer)
            if interval is not None:
                self.unmasked[layer.output] = interval
        self.needs = self._needs()

    def capped(self) -> dict[str, Array]:
        """Return the tensors that hold masks, capped."""
        masks, lows = self._masks, {}
        for name in (*masks.constants, *masks.products):
            low, _ = _extremes(masks.signs[name] * self._array(name))
            lows[name] = max(low, self.needs.get(name, -math.inf))
        for layer in masks.sums:
            parts = [
                lows[name] if name in lows else _extremes(sign * self._array(name))[0]
                for name, sign in self._operands(layer)
            ]
            lows[layer.output] = sum(parts) if _adds(layer) else min(parts)
        return {
            name: clipped(self._arrays[name], masks.signs[name], low)
            for name, low in lows.items()
            if name in self._arrays
        }

    def _needs(self) -> dict[str, float]:
        """Go backwards from the softmaxes; operands without known intervals need all values."""
        network, needs = self._masks.network, dict[str, float]()

        def need(name: str, low: float) -> None:
            needs[name] = min(low, needs.get(name, low))

        for layer in network.layers:
            if sign_at_end(layer) and (name := layer.inputs[0]) in self._masks.holding:
                low, high = self.unmasked.get(name, (-math.inf, -math.inf))
                if isinstance(layer, Neuron):  # what is masked may be larger than all that is read
                    _, high = _extremes(self._array(name))
                need(name, _lowest_read(layer, network, low, high))
        for layer in reversed(self._masks.sums):
            operands = self._operands(layer)
            for name, _ in operands:
                others = [self._interval(*other) for other in operands if other[0] != name]
                if not _adds(layer):
                    need(name, needs[layer.output])
                elif None in others:
                    need(name, -math.inf)
                else:
                    need(name, needs[layer.output] - sum(other[1] for other in others if other))
        return needs

    def _of_sum(self, layer: Layer) -> Interval | None:
        parts = [self._interval(name, sign) for name, sign in self._operands(layer)]
        if None in parts:
            return None
        return sum(part[0] for part in parts if part), sum(part[1] for part in parts if part)

    def _of_choice(self, layer: Layer) -> Interval | None:
        parts = [self._interval(name, sign) for name, sign in self._operands(layer)]
        known = [part for part in parts if part is not None]
        if not known:
            return None
        return min(low for low, _ in known), max(high for _, high in known)

    def _operands(self, layer: Layer) -> list[tuple[str, int]]:
        """Return the operands that it adds or selects from, with their signs at the softmax."""
        sign = self._masks.signs[layer.output]
        return [(name, own * sign) for name, own in signs_of_operands(layer) or ()]

    def _interval(self, name: str, sign: int) -> Interval | None:
        """Return the interval of the numbers of an operand that are not masked."""
        if name in self._masks.holding:
            return self.unmasked.get(name)
        return _extremes(sign * self._array(name))

    def _array(self, name: str) -> Array:
        known = self._arrays.get(name)
        return self._masks.network.constants[name].value() if known is None else known


def _adds(layer: Layer) -> bool:
    return isinstance(layer, Elementwise) and layer.kind in ("sum", "sub")


def _lowest_read(layer: Layer, network: Network, low: float, high: float) -> float:
    """Return the number below which a layer tells no numbers apart, beside those of an interval."""
    match layer:
        case Softmax():
            shape = network.shape(layer.inputs[0])
            row = max(1, math.prod(shape[axis] for axis in layer.axes))
            return low - math.log(row / _HALF_A_STEP_OF_16_BITS)
        case Neuron():
            return high + math.log(_HALF_A_STEP_OF_16_BITS)
    return low - _BELOW_ALL * (high - low or abs(high) or 1.0) if math.isfinite(low) else low


def _is_switched(product: Array, sign: int, factor: Array) -> bool:
    """Return True if each number of a product is zero or its large factor with a masking sign."""
    nonzero = product[product != 0]
    return bool((sign * nonzero == -abs(float(factor.item()))).all())


def _extremes(array: Array) -> Interval:
    return (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
