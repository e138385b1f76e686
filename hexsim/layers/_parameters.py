"""The shapes of constants with one number per channel."""

from collections.abc import Iterable

from hexsim.graph.ir import NamedShapes, Shape


def of_channels(
    weight: Shape, name: str, others: Iterable[str | None], moments: str | None = None
) -> NamedShapes:
    """Return the shapes of a weight, of `others` with a number per output channel, and of moments.

    The last axis of the weight is the output channel; constants that are None are left out.
    """
    channels = weight[-1]
    shapes = [
        (name, weight),
        *((operand, (channels,)) for operand in others),
        (moments, (2, channels)),
    ]
    return [(constant, shape) for constant, shape in shapes if constant is not None]
