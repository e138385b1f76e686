"""What random cases are made of: windows, encodings, codes, constants; ends of ranges included.

RandomState is used because its streams never change, and uniform numbers because they do not
depend on a mathematical library.
"""

import numpy as np

from hexsim.layers import Window
from hexsim.lowering import Requantize
from hexsim.quantization.encodings import Encoding


def any_tail(rng, entries):
    low, high = any_of(rng, [(0, 255), (0, 255), sorted(rng.randint(0, 256, 2).tolist())])
    wild = flag(rng)
    preload, multiplier = (2**31 - 1, 2**31) if wild else (2**16, 2**22)
    shifts = any_of(rng, [1, 32]) if wild else any_of(rng, [1, 1, 3])
    return Requantize(
        preload=rng.randint(-preload, preload + 1, entries, np.int64).astype(np.int32),
        multiplier=rng.randint(1, multiplier, entries, np.int64).astype(np.int32),
        shift=rng.randint(0, shifts, entries).astype(np.int32),
        low=low,
        high=high,
    )


def any_codes(rng, shape, dtype=np.uint8):
    """Random codes, or all least, all largest, in turn."""
    ends = np.iinfo(dtype)
    kind = any_of(rng, [*["random"] * 7, "least", "largest", "turn"])
    if kind == "random":
        return rng.randint(ends.min, ends.max + 1, shape).astype(dtype)
    codes = np.full(shape, ends.max if kind == "largest" else ends.min, dtype)
    if kind == "turn":
        codes.reshape(-1)[::2] = ends.max
    return codes


def any_encoding(rng, reach):
    """A range of about `reach` around zero, or all of it on one side."""
    low, high = rng.uniform(0.2, 1, 2) * reach
    return Encoding.from_range(*((-low, high), (0, high), (-low, 0), (-low, high))[rng.randint(4)])


def two_sided(rng, reach):
    low, high = rng.uniform(0.4, 1, 2) * reach
    return Encoding.from_range(-low, high)


def any_window(rng, most):
    """A window whose reach fits an input of the (height, width) returned with it."""
    kernel, strides = rng.randint(1, most + 1, 2), rng.randint(1, 4, 2)
    dilations = rng.randint(1, 3, 2)
    more = any_of(rng, [4, 4, 12, 12, 12, 50])
    size = (kernel - 1) * dilations + 1 + rng.randint(0, more, 2)
    window = Window(
        tuple(kernel.tolist()),
        tuple(strides.tolist()),
        any_pads(rng, kernel),
        tuple(dilations.tolist()),
        flag(rng),
    )
    return window, *size.tolist()


def any_pads(rng, kernel):
    """(top, left, bottom, right), each less than the kernel."""
    return tuple(int(rng.randint(0, k)) for k in (*kernel, *kernel))


def flag(rng):
    return bool(rng.randint(2))


def any_of(rng, choices):
    return choices[rng.randint(len(choices))]
