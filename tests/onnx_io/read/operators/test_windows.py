"""ConvTranspose against onnxruntime, in every combination of its attributes."""

from collections.abc import Callable
from itertools import product

import numpy as np
import onnx
import pytest
from onnx import helper

from hexsim.errors import HexsimError
from hexsim.layers import Deconvolution, Opaque
from hexsim.onnx_io.read.reader import read
from tests.conftest import run_onnx

IMAGE = {"x": (2, 4, 4, 5)}
Make = Callable[..., onnx.ModelProto]
rng = np.random.default_rng(11)


def transposed(make: Make, kernel: tuple[int, int], wide: int, **attributes) -> onnx.ModelProto:
    """A model of one node, with `wide` output channels in each group."""
    groups = attributes.get("group", 1)
    weights = {
        "w": rng.standard_normal((4, wide, *kernel)).astype(np.float32),
        "b": rng.standard_normal(wide * groups).astype(np.float32),
    }
    proto = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], name="n", **attributes)
    return make([proto], IMAGE, ["y"], weights)


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_windows(stride: int, dilation: int, group: int, onnx_model: Make, agree: Callable) -> None:
    for kernel, more, pads in product((1, 2, 4), (0, 1), ([0] * 4, [1, 0, 0, 2])):
        if more >= stride or (any(pads) and kernel < 4):
            continue
        model = transposed(
            onnx_model,
            (kernel, 3),
            3,
            strides=[stride, 1],
            dilations=[dilation, 1],
            group=group,
            output_padding=[more, 0],
            pads=pads,
        )
        (layer,) = agree(model).optimized.layers
        assert isinstance(layer, Deconvolution)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("wanted", [{}, {"output_shape": [9, 11]}, {"output_shape": [2, 8, 10]}])
def test_padding_by_mode_and_by_shape(
    mode: str, wanted: dict, onnx_model: Make, agree: Callable
) -> None:
    for kernel in ((3, 3), (4, 2)):
        model = transposed(onnx_model, kernel, 2, strides=[2, 2], auto_pad=mode, **wanted)
        try:
            run_onnx(model, {"x": np.zeros(IMAGE["x"], np.float32)})
        except Exception:  # onnxruntime has many; what it refuses has no right answer
            continue
        (layer,) = [layer for layer in agree(model).optimized.layers if layer.type != "permute"]
        assert isinstance(layer, Deconvolution | Opaque)


@pytest.mark.parametrize(
    ("kernel", "attributes"),
    [
        ((1, 3), {"strides": [2, 1], "auto_pad": "SAME_UPPER"}),  # the output is extended
        ((2, 2), {"pads": [2, 0, 0, 0]}),  # a row of the input reaches no output
    ],
)
def test_what_no_window_crops_is_opaque(
    kernel: tuple[int, int], attributes: dict, onnx_model: Make
) -> None:
    network = read(transposed(onnx_model, kernel, 2, **attributes))
    assert any(isinstance(layer, Opaque) for layer in network.layers)


def test_weights_that_do_not_fit_are_refused(onnx_model: Make) -> None:
    weights = {"w": np.zeros((5, 2, 2, 2), np.float32)}
    proto = helper.make_node("ConvTranspose", ["x", "w"], ["y"], name="n")
    with pytest.raises(HexsimError, match=r"node 'n' \(ConvTranspose\)"):
        read(onnx_model([proto], IMAGE, ["y"], weights))
