"""Filters full of zeros are dilated ones; what looks alike stays."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.layers import Convolution

Make = Callable[..., onnx.ModelProto]
rng = np.random.default_rng(8)


def spread(taps: tuple[int, int], apart: tuple[int, int], channels: int = 4) -> np.ndarray:
    """Filters of `taps` taps with zeros between them."""
    sizes = [(n - 1) * step + 1 for n, step in zip(taps, apart, strict=True)]
    weight = np.zeros((channels, 1, *sizes))
    weight[:, :, :: apart[0], :: apart[1]] = rng.standard_normal((channels, 1, *taps))
    return weight


def convolution(weight: np.ndarray, groups: int = 4) -> onnx.NodeProto:
    height, width = weight.shape[2:]
    pads = [height // 2, width // 2, height // 2, width // 2]
    return helper.make_node("Conv", ["x", "w"], ["y"], pads=pads, group=groups)


@pytest.mark.parametrize(
    ("taps", "apart"), [((3, 3), (2, 2)), ((3, 3), (4, 4)), ((3, 5), (2, 1)), ((1, 3), (1, 3))]
)
def test_zeros_between_taps_are_a_dilation(
    taps: tuple[int, int], apart: tuple[int, int], onnx_model: Make, agree: Callable
) -> None:
    weight = spread(taps, apart)
    model = onnx_model([convolution(weight)], {"x": (1, 4, 13, 12)}, ["y"], {"w": weight})
    (layer,) = agree(model).optimized.layers
    assert isinstance(layer, Convolution)
    assert (layer.window.kernel, layer.window.dilations) == (taps, apart)


def _off_the_grid() -> np.ndarray:
    weight = spread((3, 3), (2, 2))
    weight[3, 0, 1, 0] = 0.5
    return weight


def _zero_at_the_border() -> np.ndarray:
    weight = spread((3, 3), (2, 2))
    weight[:, :, -1] = 0
    return weight


@pytest.mark.parametrize(
    ("weight", "groups"),
    [
        (_off_the_grid(), 4),
        (_zero_at_the_border(), 4),
        (np.zeros((4, 1, 5, 5)), 4),
        (np.repeat(spread((3, 3), (2, 2)), 2, axis=1), 2),
    ],
    ids=["a tap between", "fewer rows", "all zero", "grouped"],
)
def test_other_filters_stay(
    weight: np.ndarray, groups: int, onnx_model: Make, agree: Callable
) -> None:
    model = onnx_model([convolution(weight, groups)], {"x": (1, 4, 13, 12)}, ["y"], {"w": weight})
    (layer,) = agree(model).optimized.layers
    assert isinstance(layer, Convolution)
    assert layer.window.kernel == (5, 5) or layer.window.dilations[1] == 2
