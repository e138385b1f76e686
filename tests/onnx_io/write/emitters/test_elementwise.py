"""Colour conversions in float equal plain numpy, also in the oldest opset."""

import numpy as np
import pytest

from hexsim.graph.ir import Network, Tensor
from hexsim.layers import ColourConversion
from hexsim.layers.images import CONVERTED, encoded_shape
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.onnx_io.write import writer
from tests.onnx_io.write.emitters.pictures import bgr, picture


@pytest.mark.parametrize("opset", [8, 17])
@pytest.mark.parametrize("encoding", CONVERTED)
def test_equals_numpy(encoding, opset, monkeypatch) -> None:
    monkeypatch.setattr(writer, "DEFAULT_OPSET", opset)
    layer = ColourConversion(
        name="c",
        inputs=("x",),
        outputs=("y",),
        input_encoding_in=encoding,
        input_encoding_out="bgr",
    )
    shape = (2, 6, 4, 3)
    tensors = {"x": Tensor("x", encoded_shape(encoding, shape)), "y": Tensor("y", shape)}
    network = Network("n", (layer,), tensors, {}, ("x",), ("y",))
    network.check()
    pixels = picture(encoding, 6, 4, batch=2)
    result = FloatEngine(network).run({"x": pixels})["y"]
    np.testing.assert_allclose(result, bgr(encoding, pixels), atol=1e-3)
