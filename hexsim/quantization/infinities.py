"""Makes infinite numbers of masks finite before codes are made of them.

Masks of attention layers add minus infinity to what a softmax should not see. Integers have no
infinity, and a very large number would leave no codes for the others. So what is added is no larger
than what a softmax already makes zero of. Floats stay what they are in the float network.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from hexsim.graph.ir import Constant, Layer, Network
from hexsim.layers import Elementwise, Opaque

LARGEST = 104.0
"""e^-104 is zero in single (our choice)."""

_ADDING = ("sum", "sub")
_CHOOSING = ("Where",)


def with_finite_masks(network: Network) -> Network:
    """Return `network` with finite numbers in the constants that layers add or choose from."""
    changed = [one.derive(one.shape, _finite) for one, _ in _infinite(network)]
    return network.with_layers(network.layers, constants=changed) if changed else network


def mask_notes(network: Network) -> tuple[str, ...]:
    """A sentence for each constant that `with_finite_masks` changes."""
    return tuple(
        f"{count} infinite numbers of constant '{constant.name}' become {LARGEST:g} with their sign"
        for constant, count in _infinite(network)
    )


def _infinite(network: Network) -> Iterator[tuple[Constant, int]]:
    """The constants that may be masks and hold infinity, and how many."""
    names = dict.fromkeys(n for la in network.layers if _may_mask(la) for n in la.inputs)
    for name in names:
        constant = network.constants.get(name)
        if constant is not None and constant.dtype == "float32":
            count = int(np.isinf(constant.value()).sum())
            if count:
                yield constant, count


def _may_mask(layer: Layer) -> bool:
    if isinstance(layer, Opaque):
        return layer.op_type in _CHOOSING
    return isinstance(layer, Elementwise) and layer.kind in _ADDING


def _finite(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    found: npt.NDArray[np.generic] = np.where(
        np.isinf(array), np.copysign(np.float32(LARGEST), array), array
    )
    return found
