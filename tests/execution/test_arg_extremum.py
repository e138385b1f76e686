"""Places of extremes that codes of 8 bits cannot tell apart reach the user as they are."""

import numpy as np
import onnx
import pytest
from onnx import helper

import hexsim
from tests.conftest import make_model


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("runtime", ["dsp", "aip", "fxp_cpu"])
def test_of_many_places(tmp_path, runtime, keepdims):
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("ArgMax", ["r"], ["y"], axis=1, keepdims=keepdims),
    ]
    model = make_model(nodes, {"x": (1, 2304, 3)}, ["y"])
    model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    onnx.save(model, tmp_path / "m.onnx")
    x = np.linspace(0, 0.5, 3 * 2304, dtype=np.float32).reshape(1, 2304, 3)
    wanted = (1700, 3, 2303)
    for column, row in enumerate(wanted):
        x[0, row, column] = 1
    read = hexsim.quantize(hexsim.load(tmp_path / "m.onnx"), [{"x": x}])
    outputs = hexsim.simulate(read, "sd855", runtime, inputs={"x": x}).outputs
    assert outputs is not None
    assert outputs["y"].ravel().tolist() == list(wanted)
