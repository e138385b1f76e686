"""The shapes of constants that have one number for each channel."""

from __future__ import annotations

from collections.abc import Iterable

from hexsim.graph.ir import Shape


def of_channels(
    weight: Shape, name: str, others: Iterable[str | None], moments: str | None = None
) -> dict[str, Shape]:
    """The shape of a weight, of `others` with a number per output channel, and of its moments.

    The last axis of the weight is the output channel; what is None is not there.
    """
    channels = weight[-1]
    shapes: dict[str | None, Shape] = {name: weight, **dict.fromkeys(others, (channels,))}
    shapes[moments] = (2, channels)
    return {known: shape for known, shape in shapes.items() if known is not None}
