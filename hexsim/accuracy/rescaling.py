"""The loss of asymmetric weights that kernels with signed weights change at load.

Compared are the dequantised weights of the file and the signed ones (hexsim.lowering.source);
weights that stay the same have no loss and are not listed. So this is the second rounding alone,
without the quantiser's.
"""

from collections.abc import Collection

from hexsim.accuracy.output_errors import Distance
from hexsim.layers import Weighted
from hexsim.lowering.source import becomes_signed, signed_weights
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.results.validation import RescaledWeight
from hexsim.texts.fields import finite


def rescaling_losses(model: Model, signed: Collection[str]) -> tuple[RescaledWeight, ...]:
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


def _loss(layer: Weighted, model: Model, encoding: Encoding) -> RescaledWeight:
    codes = model.codes(layer.weight)
    rescaled = signed_weights(codes, encoding)
    distance = Distance.between(
        (codes.astype(float) - encoding.zero_point) * encoding.delta,
        rescaled.codes * rescaled.steps,
    )
    return RescaledWeight(
        layer=layer.name,
        weight=layer.weight,
        sqnr_db=finite(distance.sqnr_db),
        max_error=distance.max_error,
        steps=distance.max_error / encoding.delta,
    )
