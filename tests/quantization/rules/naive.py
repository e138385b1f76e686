"""The enhanced search as its description reads, value by value in plain Python."""

import math


def code(x: float, delta: float, offset: int, steps: int) -> int:
    return min(max(math.floor(x / delta - offset + 0.5), 0), steps)


def cost(
    bins: list[tuple[float, int]], delta: float, offset: int, low: float, high: float, steps: int
) -> float:
    total = 0.0
    for centre, count in bins:
        error = centre - delta * (code(centre, delta, offset, steps) + offset)
        total += count * error * error * (3.0 if centre < low or centre > high else 1.0)
    return total


def default(low: float, high: float, steps: int, least: float) -> tuple[float, int]:
    """Step and offset of the default mode (facts of the guide, written out again)."""
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < least:
        high = low + least
    delta = (high - low) / steps
    return delta, -min(math.floor(-low / delta + 0.5), steps)


def asymmetric(
    bins: list[tuple[float, int]], low: float, high: float, bits: int, least: float
) -> tuple[float, float]:
    """(lowest cost, cost of the default encoding) over 17 steps times 21 offsets."""
    steps = 2**bits - 1
    widest, shift = default(low, high, steps, least)
    ends = (widest * shift, widest * (shift + steps))
    first = cost(bins, widest, shift, *ends, steps)
    lowest = first
    for f in [k / 16 for k in range(1, 18)]:
        for i in range(21):
            start = f * widest * (-steps + steps * i / 20)
            stop = start + f * widest * steps
            delta, offset = default(max(start, ends[0]), min(stop, ends[1]), steps, least)
            window = (delta * offset, delta * (offset + steps))
            lowest = min(lowest, cost(bins, delta, offset, *window, steps))
    return lowest, first


def symmetric(
    bins: list[tuple[float, int]], limit: float, bits: int, least: float
) -> tuple[float, float]:
    """(lowest cost, cost of the default encoding) over 101 steps."""
    half = 2 ** (bits - 1)

    def of(end: float) -> float:
        delta = end / (half - 1)
        return cost(bins, delta, -half, -half * delta, (half - 1) * delta, 2 * half - 1)

    return min(of(max(limit * k / 100, least / 2)) for k in range(1, 102)), of(limit)
