"""One layer with given encodings, from codes to codes, through lowering and the int8 runner."""

from dataclasses import replace

import numpy as np

from hexsim.quantization.encodings import Encoding
from tests.int8.single_layer import quantized, subnet_of


def encoding(delta, zero_point):
    """An 8-bit encoding of a step and a zero point."""
    delta, zero = float(delta), round(float(zero_point))
    return Encoding(8, -zero * delta, (255 - zero) * delta, delta, -zero)


def stated_encoding(case):
    """The output encoding of a case: the range that the library stated."""
    low, high = map(float, case["out_min_max"])
    delta = (high - low) / 255
    return encoding(delta, -low / delta)


def result_codes(layer, case, constants=None, parameters=None):
    """Codes of a layer that reads "x" and writes "y", for the input codes of a case.

    `constants` are arrays by name, `parameters` encodings of constants by name.
    """
    x, y = encoding(*case["xe"]), stated_encoding(case)
    shapes = {"x": case["x"].shape}
    model = quantized([layer], shapes, constants or {}, {"x": x, "y": y}, ["y"])
    model = replace(model, parameters={**model.parameters, **(parameters or {})})
    reals = subnet_of(model).run({"x": x.dequantize(case["x"])})["y"]
    return np.asarray(y.quantize(reals))
