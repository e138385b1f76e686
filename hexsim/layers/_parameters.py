"""The shapes of constants that have one number for each channel."""

from __future__ import annotations

from collections.abc import Iterable

from hexsim.graph.ir import NamedShapes, Shape


def of_channels(
    weight: Shape, name: str, others: Iterable[str | None], moments: str | None = None
) -> NamedShapes:
    """The shape of a weight, of `others` with a number per output channel, and of its moments.

    The last axis of the weight is the output channel; what is None is not there.
    """
    channels = weight[-1]
    given = [(name, weight), *((other, (channels,)) for other in others), (moments, (2, channels))]
    return [(known, shape) for known, shape in given if known is not None]
