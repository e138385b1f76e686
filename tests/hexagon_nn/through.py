"""A layer of one input, in the encodings of a case, through lowering and the integer kernels."""

import numpy as np

from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import quantized, subnet_of

SAME_RANGE = 1e-6
"""The library states float32 bounds; closer than this share, they are those of the input."""


def of_pair(pair):
    """The encoding of a pair (delta, zero point)."""
    delta, zero = float(pair[0]), int(pair[1])
    return Encoding(8, -delta * zero, delta * (255 - zero), delta, -zero)


def of_range(low, high):
    """The encoding of the range that the library stated."""
    delta = (float(high) - float(low)) / 255
    zero = round(-float(low) / delta)
    return Encoding(8, -delta * zero, delta * (255 - zero), delta, -zero)


def output_encoding(case):
    """That of the stated range; the input's own where the library kept it."""
    own, low, high = of_pair(case["xe"]), *case["out_min_max"].tolist()
    reach = SAME_RANGE * (own.max - own.min)
    same = abs(own.min - low) < reach and abs(own.max - high) < reach
    return own if same else of_range(low, high)


def codes_of_layer(layer, case):
    """The codes of layer "x" -> "y" for the codes `x` of a case."""
    encodings = {"x": of_pair(case["xe"]), "y": output_encoding(case)}
    model = quantized([layer], {"x": case["x"].shape}, {}, encodings, ["y"])
    result = subnet_of(model).run({"x": encodings["x"].dequantize(case["x"]).astype(np.float32)})
    return encodings["y"].quantize(result["y"])
