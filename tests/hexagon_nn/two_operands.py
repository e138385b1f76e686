"""A layer of operands `a` and `b` in the encodings of a case, through the integer runner."""

import numpy as np

from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import quantized, subnet_of


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
    """That of the stated range; an operand's own where the library kept it (float32 bounds)."""
    stated = of_range(*case["out_min_max"])
    for name in ("ae", "be"):
        if name in case:
            own = of_pair(case[name])
            if own.offset == stated.offset and abs(own.delta / stated.delta - 1) < 1e-6:
                return own
    return stated


def differences(layer, case):
    """Codes of hexsim minus those of the library, for layer ("a", "b") -> "y" or "a" -> "y"."""
    encodings = {name: of_pair(case[f"{name}e"]) for name in layer.inputs}
    encodings["y"] = output_encoding(case)
    shapes = {name: case[name].shape for name in layer.inputs}
    model = quantized([layer], shapes, {}, encodings, ["y"])
    feeds = {name: encodings[name].dequantize(case[name]).astype(np.float32) for name in shapes}
    codes = encodings["y"].quantize(subnet_of(model).run(feeds)["y"])
    return codes.astype(int) - case["library"].astype(int)
