"""A layer in the encodings of a case, from codes to codes, through lowering and the runner."""

from dataclasses import replace

import numpy as np

from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import quantized, subnet_of

SAME_RANGE = 1e-6
"""The library states float32 bounds; closer than this share, they are those of an operand."""


def encoding(delta, zero_point):
    """An 8-bit encoding of a step and a zero point."""
    delta, zero = float(delta), round(float(zero_point))
    return Encoding(8, -delta * zero, delta * (255 - zero), delta, -zero)


def output_encoding(case):
    """That of the range that the library stated; an operand's own where the library kept it."""
    low, high = map(float, case["out_min_max"])
    delta = (high - low) / 255
    for name in ("xe", "ae", "be"):
        if name in case:
            own = encoding(*case[name])
            reach = SAME_RANGE * (own.max - own.min)
            if abs(own.min - low) < reach and abs(own.max - high) < reach:
                return own
    return encoding(delta, -low / delta)


def result_codes(layer, case, constants=None, parameters=None):
    """Codes "y" of a layer for the codes in the case of its inputs, "x" or "a" and "b".

    `constants` are arrays by name, `parameters` encodings of constants by name.
    """
    encodings = {name: encoding(*case[f"{name}e"]) for name in layer.inputs}
    feeds = {name: read.dequantize(case[name]) for name, read in encodings.items()}
    encodings["y"] = output_encoding(case)
    shapes = {name: array.shape for name, array in feeds.items()}
    model = quantized([layer], shapes, constants or {}, encodings, ["y"])
    model = replace(model, parameters={**model.parameters, **(parameters or {})})
    return np.asarray(encodings["y"].quantize(subnet_of(model).run(feeds)["y"]))
