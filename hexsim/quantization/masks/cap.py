"""Caps masks at the lowest value that has an effect on the calibration inputs.

In a row of n numbers, those that lie ln(2^17 n) below the largest give less than half a step of
16 bits after softmax, all together. Unless all numbers of a row are masked, its largest is at least
the smallest number that is not masked, which the float network shows. So

- the input of a softmax has to reach down to that smallest number minus ln(2^17 n);
- an addend of a sum has to reach as far as the sum, minus the most that the others add;
- an operand that is selected or moved has to reach as far as the result.

Lower values are capped there. A row that is masked entirely becomes the row without its mask, or
the same number everywhere if the mask was selected instead of added.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from hexsim.graph.ir import Layer, Network
from hexsim.layers import ArgExtremum, Elementwise, Softmax
from hexsim.quantization.masks.found import LARGE, Array, Masks, clipped
from hexsim.quantization.masks.paths import sign_at_end, signs_of_operands

Interval = tuple[float, float]
"""Smallest and largest number that is not masked; the sign is changed if it is subtracted."""
_HALF_A_STEP_OF_16_BITS = 2.0**-17


@dataclass
class Caps:
    """The caps of a network's masks over all calibration inputs.

    A product is not capped if its other factor held a number other than zero and one. A mask whose
    encoding is `given` stays as it is: a cap may be less than a step of it.
    """

    masks: Masks
    given: frozenset[str] = frozenset()
    lowest: dict[str, float] = field(default_factory=dict)
    _others: set[str] = field(default_factory=set)

    def capped(self, arrays: Mapping[str, Array]) -> Mapping[str, Array]:
        """Return the tensors of one inference with its masks capped."""
        if not self.masks.sums:
            return arrays
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
            f"the mask '{name}' was capped at {signs[name] * low:.4g}: beyond it softmax gives 0 "
            "at 8 and at 16 bits"
            for name, low in self._changed().items()
        )

    def uncapped(self) -> tuple[str, ...]:
        """Return the constant masks that inputs have to cap."""
        holds_sums = bool(self.masks.sums)
        return tuple(n for n in self.masks.constants if holds_sums and n not in self.given)

    def _changed(self) -> dict[str, float]:
        products = self.masks.products
        fixed = {products[name] for name in self._others}
        return {
            name: low
            for name, low in self.lowest.items()
            if products.get(name, name) not in fixed | self.given
            and name not in self.given
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
            if sign_at_end(layer):
                name = layer.inputs[0]
                low, _ = self.unmasked.get(name, (-math.inf, 0.0))
                need(name, low - math.log(_row(layer, network) / _HALF_A_STEP_OF_16_BITS))
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


def _row(layer: Layer, network: Network) -> int:
    """Return how many numbers a softmax or ArgMax compares."""
    shape = network.shape(layer.inputs[0])
    match layer:
        case Softmax():
            return max(1, math.prod(shape[axis] for axis in layer.axes))
        case ArgExtremum():
            return max(1, shape[layer.axis])
    raise AssertionError(f"layer '{layer.name}' compares no numbers")


def _is_switched(product: Array, sign: int, factor: Array) -> bool:
    """Return True if each number of a product is zero or its large factor with a masking sign."""
    nonzero = product[product != 0]
    return bool((sign * nonzero == -abs(float(factor.item()))).all())


def _extremes(array: Array) -> Interval:
    return (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
