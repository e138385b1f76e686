"""The requantise stage of accumulating kernels: int32 to u8 with one rounding.

It has a left shift, a fractional multiply in two steps (`vmpye`, `vmpyo:<<1:rnd:sat`), saturating
packs, and the running minimum and maximum of the accumulators, by which Hexagon NN detects a range
that is too small. Bias and output zero point are in the accumulators already.

The left shift is the plain `vasl` with one amount per call. The arithmetic contract saturates
it, which needs further instructions for words on HVX (two clamps per accumulator). With the
constants of the lowering, the results differ only for an accumulator of 2^30 output
steps, so the cost of the plain shift is used.
"""

from hexsim.hvx.streams._stream import Stream


def requantize(s: Stream, accumulators: list[str], result: str, *, track: bool = True) -> str:
    """Requantise four accumulators of 32 channels to a vector of four pixels; return its name.

    An accumulator that is named twice is scaled once.
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
