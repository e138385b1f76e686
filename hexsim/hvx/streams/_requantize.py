"""The tail shared by accumulating kernels: int32 to u8 with one rounding.

Left shift, fractional multiply in two steps (`vmpye`, `vmpyo:<<1:rnd:sat`), saturating packs; the
running minimum and maximum of the accumulators, which Hexagon NN keeps to find a range that was
chosen too small. Bias and output zero point are in the accumulators already.

The left shift here is the plain `vasl` with one amount per call. The arithmetic contract saturates
it, which HVX does for words only by extra instructions (two clamps per accumulator). With the
constants that binding makes, an accumulator large enough to tell them apart is worth 2^30 output
codes, so the cost of the plain shift is the one that matters.
"""

from __future__ import annotations

from hexsim.hvx.streams._stream import Stream


def requantize(s: Stream, accumulators: list[str], result: str, *, track: bool = True) -> str:
    """Four accumulators of 32 channels become one vector of four pixels; returns its name.

    One that is named twice is scaled once.
    """
    names = {accumulator: f"{result}_{k}" for k, accumulator in enumerate(accumulators)}
    for accumulator, name in names.items():
        s("asl.w.R", f"{name}s", accumulator, "shift")
        s("mpye", name, f"{name}s", "multiplier")
        s("mpyo.acc", name, f"{name}s", "multiplier")
        if track:
            s("max.w", "largest", "largest", accumulator)
            s("min.w", "smallest", "smallest", accumulator)
    scaled = [names[accumulator] for accumulator in accumulators]
    s("pack.w.h", f"{result}l", scaled[1], scaled[0])
    s("pack.w.h", f"{result}h", scaled[3], scaled[2])
    return s("pack.h.ub", result, f"{result}h", f"{result}l")
