"""A channel of zeros in a tiny step from elsewhere equals its bias, from Python and from commands.

The step comes by a file of overrides, as AIMET writes it, or by the nodes of a QDQ model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from tests.cli.conftest import Done

TINY = 2.0**-23
"""What exporters write for a channel that holds zeros only."""
STEPS = np.array([0.005, TINY, 0.004], np.float32)
BIAS = np.array([0.1, 0.254, -0.4], np.float32)
WEIGHT = np.array([[100, -127], [0, 0], [-30, 90]], np.int8).reshape(3, 2, 1, 1)
INPUT_STEP = 1 / 255
OUTPUT_STEP, OUTPUT_ZERO = 0.02, 128
INPUT = np.random.default_rng(8).uniform(0, 1, (1, 2, 4, 5)).astype(np.float32)
PLACES: list[tuple[str, Runtime]] = [
    ("sd835", "dsp"),
    ("sd855", "dsp"),
    ("sd855", "aip"),
    ("sd855", "fxp_cpu"),
    ("sd8gen2", "htp"),
]
Command = Callable[[str], Done]


def initializer(name: str, array: np.ndarray) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def saved(path: Path, nodes: list[onnx.NodeProto], arrays: dict[str, np.ndarray]) -> Path:
    """A network from x to y."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, INPUT.shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 3, 4, 5))
    initializers = [initializer(name, array) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "given", [x], [y], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


def with_overrides(folder: Path) -> Model:
    """A float model whose weights have encodings in a file of AIMET."""
    weight = WEIGHT * STEPS.reshape(3, 1, 1, 1)
    conv = helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv")
    path = saved(folder / "m.onnx", [conv], {"w": weight, "b": BIAS})
    scale = [float(step) for step in STEPS]
    key = {
        "name": "w", "bw": 8, "dtype": "INT", "is_sym": True, "enc_type": "PER_CHANNEL",
        "offset": [-128] * 3, "scale": scale,
    }  # fmt: skip
    y = {
        "name": "y", "bw": 8, "dtype": "INT", "is_sym": False, "enc_type": "PER_TENSOR",
        "offset": [-OUTPUT_ZERO], "scale": [OUTPUT_STEP],
    }  # fmt: skip
    given = {"version": "1.0.0", "activation_encodings": [y], "param_encodings": [key]}
    (folder / "e.json").write_text(json.dumps(given))
    overrides = hexsim.read_overrides(folder / "e.json")
    return hexsim.quantize(hexsim.load(path), [INPUT], overrides=overrides)


def with_nodes(folder: Path) -> Model:
    """A QDQ model; the bias is in 32-bit codes of its own, which are those of the accumulator."""
    bias_steps = (STEPS * INPUT_STEP).astype(np.float32)
    codes = np.round(BIAS / bias_steps.astype(np.float64)).astype(np.int32)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        helper.make_node("DequantizeLinear", ["wq", "ws", "wz"], ["w"], axis=0),
        helper.make_node("DequantizeLinear", ["bq", "bs", "bz"], ["b"], axis=0),
        helper.make_node("Conv", ["xd", "w", "b"], ["c"], name="conv"),
        helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["yq"]),
        helper.make_node("DequantizeLinear", ["yq", "ys", "yz"], ["y"]),
    ]
    arrays = {
        "xs": np.float32(INPUT_STEP), "xz": np.uint8(0), "wq": WEIGHT, "ws": STEPS,
        "wz": np.zeros(3, np.int8), "bq": codes, "bs": bias_steps, "bz": np.zeros(3, np.int32),
        "ys": np.float32(OUTPUT_STEP), "yz": np.uint8(OUTPUT_ZERO),
    }  # fmt: skip
    return hexsim.quantize(hexsim.load(saved(folder / "m.onnx", nodes, arrays)), [INPUT])


@pytest.mark.parametrize("made", [with_overrides, with_nodes])
@pytest.mark.parametrize(("chip", "runtime"), PLACES)
def test_the_channel_equals_its_bias(
    made: Callable[[Path], Model], chip: str, runtime: Runtime, command: Command, tmp_path: Path
) -> None:
    model = made(tmp_path)
    hexsim.save(model, tmp_path / "q.dlc")
    stored = INPUT.transpose(0, 2, 3, 1)
    deployed = deploy(model, Platform.load(chip), runtime)
    answers = [deployed.executor(threads).run({"x": stored})["y"] for threads in (1, 2)]
    for given in (model, tmp_path / "q.dlc"):
        (answer,) = hexsim.run(given, [INPUT], chip, runtime)
        answers.append(answer["y"].transpose(0, 2, 3, 1))
    stored.tofile(tmp_path / "x.raw")
    (tmp_path / "list.txt").write_text("x.raw\n")
    line = f"run q.dlc --chip {chip} --runtime {runtime} --input-list list.txt -o out"
    assert command(line).code == 0
    raw = np.fromfile(tmp_path / "out" / "Result_0" / "y.raw", np.float32)
    answers.append(raw.reshape(1, 4, 5, 3))
    weight = (WEIGHT * STEPS.reshape(3, 1, 1, 1)).reshape(3, 2)
    real = stored @ weight.T + BIAS
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])
        assert np.abs(answer - real).max() < 1.1 * OUTPUT_STEP
        # 0.254 is 12.7 steps.
        np.testing.assert_allclose(answer[..., 1], 0.26, atol=1e-6)


@pytest.mark.parametrize("made", [with_overrides, with_nodes])
def test_what_was_given_is_what_is_reported(
    made: Callable[[Path], Model], command: Command, tmp_path: Path
) -> None:
    """The rule is about arithmetic; the file and its listing keep the encoding."""
    hexsim.save(made(tmp_path), tmp_path / "q.dlc")
    parameters = hexsim.load(tmp_path / "q.dlc").parameters
    (encoding,) = [e for e in parameters.values() if isinstance(e, AxisEncoding)]
    np.testing.assert_array_equal(np.float32(encoding.deltas), STEPS)
    listing = command("info q.dlc --layout snpe")
    assert listing.code == 0
    assert "0.000000119209" in listing.out
