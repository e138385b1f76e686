"""The loss of asymmetric weights that kernels with signed weights change at load.

Compared are the dequantised weights of the file and the signed ones (hexsim.lowering.source);
weights that stay the same have no loss and are not listed. So this is the second rounding alone,
without the quantiser's.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hexsim.accuracy.output_errors import Distance
from hexsim.layers import Weighted
from hexsim.lowering.source import becomes_signed, signed_weights
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


def rescaling_losses(model: Model, signed: Collection[str]) -> tuple[RescalingLoss, ...]:
    """Return the loss of every weight that changes, in the order of the network.

    `signed` names the layers that multiply by signed weights.
    """
    losses = []
    for layer in model.network.layers:
        if not isinstance(layer, Weighted) or layer.name not in signed:
            continue
        encoding = model.parameters.get(layer.weight)
        if isinstance(encoding, Encoding) and becomes_signed(encoding):
            losses.append(_loss(layer, model, encoding))
    return tuple(loss for loss in losses if loss.max_error > 0)


def worst(losses: Sequence[RescalingLoss]) -> RescalingLoss:
    """Return the loss with the lowest SQNR."""
    return min(losses, key=lambda loss: loss.sqnr_db)


def _loss(layer: Weighted, model: Model, encoding: Encoding) -> RescalingLoss:
    codes = model.codes(layer.weight)
    rescaled = signed_weights(codes, encoding)
    distance = Distance.between(
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
