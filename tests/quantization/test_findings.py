"""What encodings lose for certain: worked by hand, and the same through API and file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import hexsim
from hexsim.quantization.model import Model


def _joined(scale: float) -> onnx.ModelProto:
    """Concat of x (boxes) with the sigmoid of y (scores, 0 to 1); x lies in 0 to `scale`."""
    box = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 2, 2])
    score = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 2, 2])
    out = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    factor = helper.make_tensor("k", TensorProto.FLOAT, [1], [scale])
    nodes = [
        helper.make_node("Mul", ["x", "k"], ["boxes"], name="scaled"),
        helper.make_node("Sigmoid", ["y"], ["scores"], name="sigmoid"),
        helper.make_node("Concat", ["boxes", "scores"], ["z"], name="joining", axis=1),
    ]
    graph = helper.make_graph(nodes, "g", [box, score], [out], [factor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def _quantized(scale: float, **options: int) -> Model:
    feed = {
        "x": np.linspace(0, 1, 16, dtype=np.float32).reshape(1, 4, 2, 2),
        "y": np.linspace(-4, 8, 16, dtype=np.float32).reshape(1, 4, 2, 2),
    }
    chosen = hexsim.QuantizationOptions(**options)  # type: ignore[arg-type]
    return hexsim.quantize(hexsim.load(_joined(scale)), [feed], chosen)


def test_scores_below_half_a_step_of_the_joined_output_are_told() -> None:
    # A step of 0 to 765 is 765 / 255 = 3; half of it, 1.5, is more than any score.
    (finding,) = _quantized(765.0).findings
    assert (finding.kind, finding.layer, finding.tensor) == (
        "joined below a step",
        "joining",
        "scores",
    )
    assert finding.sentence.startswith(
        "all 16 values of 'scores' become zero in layer 'joining': they reach 1, and a step of "
        "the output 'z' is 3;"
    )


def test_scores_of_a_step_are_not_told() -> None:
    # A step of 0 to 255 is 1, so a score of 0.9997 is the code 1.
    assert _quantized(255.0).findings == ()


def test_sixteen_bits_help() -> None:
    assert _quantized(765.0, activation_bits=16).findings == ()


def test_a_file_tells_the_same(tmp_path: Path) -> None:
    model = _quantized(765.0)
    hexsim.save(model, tmp_path / "q.dlc")
    assert hexsim.load(tmp_path / "q.dlc").findings == model.findings


def test_the_loss_is_real() -> None:
    # What is told is what the integer run does: no score is left.
    feed = {"x": np.ones((1, 4, 2, 2), np.float32), "y": np.full((1, 4, 2, 2), 8, np.float32)}
    (answer,) = hexsim.run(_quantized(765.0), [feed], runtime="dsp")
    assert np.count_nonzero(answer["z"][:, 4:]) == 0
    assert np.count_nonzero(answer["z"][:, :4]) == 16


def test_weights_far_beyond_their_override_are_told(tmp_path: Path) -> None:
    # Six weights, an override of -1 to 1: 3, -4 and 1.5 lie beyond, and 4 is more than twice 1.
    values = [0.5, 3.0, -4.0, 1.5, 0.25, -0.5]
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], name="conv")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 2, 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [helper.make_tensor("w", TensorProto.FLOAT, [2, 3, 1, 1], values)],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    keys = tmp_path / "keys.json"
    keys.write_text(
        '{"version": "0.6.1", "activation_encodings": {}, "param_encodings": {"w": [{"bitwidth": '
        '8, "dtype": "int", "is_symmetric": "False", "min": -1.0, "max": 1.0}]}}'
    )
    model = hexsim.load(proto)
    (finding,) = hexsim.quantize(model, overrides=hexsim.read_overrides(keys)).findings
    assert (finding.kind, finding.tensor, finding.share) == ("saturated weights", "w", 0.5)
    assert finding.sentence.startswith("3 of 6 values of weight 'w' of layer 'conv' lie beyond")
    assert hexsim.quantize(model).findings == ()
