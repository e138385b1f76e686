"""The loss of asymmetric weights when a runtime with signed kernels rescales them at load.

Compared are the dequantised weights of the file and those after rescaling
(hexsim.lowering.weights). So this is the second rounding alone, without the quantiser's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.accuracy.distance import Distance
from hexsim.graph.ir import Layer
from hexsim.layers import Weighted
from hexsim.lowering.weights import is_rescaled, signed_weights
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model


@dataclass(frozen=True)
class RescalingLoss:
    """One weight tensor; `max_error` in real units, `steps` the error in steps of its encoding."""

    layer: str
    weight: str
    sqnr_db: float
    max_error: float
    steps: float


def rescaling_losses(
    model: Model, layers: Sequence[Layer] | None = None
) -> tuple[RescalingLoss, ...]:
    """Return the loss of every weight that is rescaled, in the order of `layers` (None: all)."""
    chosen = model.network.layers if layers is None else layers
    losses = []
    for layer in chosen:
        if not isinstance(layer, Weighted):
            continue
        encoding = model.parameters.get(layer.weight)
        if isinstance(encoding, Encoding) and is_rescaled(encoding):
            losses.append(_loss(layer, model, encoding))
    return tuple(losses)


def worst(losses: Sequence[RescalingLoss]) -> RescalingLoss:
    """Return the loss with the lowest SQNR."""
    return min(losses, key=lambda loss: loss.sqnr_db)


def _loss(layer: Weighted, model: Model, encoding: Encoding) -> RescalingLoss:
    codes = model.codes(layer.weight)
    rescaled = signed_weights(codes, encoding)
    distance = Distance()
    distance.add(
        (codes.astype(float) - encoding.zero_point) * encoding.delta,
        rescaled.codes * rescaled.steps,
    )
    return RescalingLoss(
        layer.name,
        layer.weight,
        distance.sqnr_db,
        distance.max_error,
        distance.max_error / encoding.delta,
    )
