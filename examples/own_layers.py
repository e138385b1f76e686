"""Two operators of one's own: one that the DSP takes, and one that only the CPU does.

hexsim convert model.onnx --udl examples/own_layers.py
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hexsim.udl import Cost, Node, UserLayer

Array = npt.NDArray[Any]


def same_shape(node: Node) -> list[Any]:
    """The output is as large as the input."""
    return [node.inputs[0]]


def squareplus(node: Node, x: Array) -> Array:
    """(x + sqrt(x^2 + b)) / 2, a smooth Relu; b is an attribute."""
    return (x + np.sqrt(x * x + node.attributes["b"])) / 2


def squareplus_codes(node: Node, x: Array) -> Array:
    """A table of all codes: what each stands for, through the function, to the nearest code."""
    source, target = node.input_scales[0], node.output_scale
    assert source is not None
    assert target is not None
    table = target.codes(squareplus(node, source.real(np.arange(1 << source.bits))))
    return table[x]


def table_cost(node: Node) -> Cost:
    """Ten packets for each vector of 128 elements, on all threads."""
    return Cost(cycles=10 * np.prod(node.outputs[0]) / 128)


SQUAREPLUS = UserLayer(
    domain="com.example",
    operator="Squareplus",
    shapes=same_shape,
    floats=squareplus,
    codes=squareplus_codes,
    costs={"dsp": table_cost},
    any_order=True,
)


def energy_shape(node: Node) -> list[Any]:
    """N x C x H x W becomes N x C."""
    shape = node.inputs[0]
    assert shape is not None
    return [shape[:2]]


def energy(node: Node, x: Array) -> Array:
    """The mean square of each channel."""
    return np.mean(x * x, axis=(2, 3))


ENERGY = UserLayer(
    domain="com.example",
    operator="Energy",
    shapes=energy_shape,
    floats=energy,
    costs={"cpu": lambda node: Cost(operations=2 * np.prod(node.inputs[0]))},
)
