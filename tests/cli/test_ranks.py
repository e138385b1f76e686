"""Every command takes networks whose tensors are scalars or vectors, or hold nothing."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as h
import pytest

Command = Callable[[str], tuple[int, str, str]]
Shape = tuple[int, ...]
SINGLE = onnx.TensorProto.FLOAT
RELU = h.make_node("Relu", ["x"], ["r"])
CUT = h.make_node("Slice", ["r", "zero", "zero"], ["s"])
"""Takes nothing."""
DOT = h.make_node("MatMul", ["r", "ones"], ["d"])

CASES: dict[str, tuple[Shape, list[onnx.NodeProto], tuple[str, ...]]] = {
    "scalar": ((), [RELU, h.make_node("Mul", ["r", "two"], ["y"])], ("y",)),
    "vector": ((8,), [RELU, h.make_node("Add", ["r", "x"], ["y"])], ("y",)),
    "scalar in the midst": (
        (1, 8),
        [RELU, DOT, h.make_node("Squeeze", ["d"], ["m"]), h.make_node("Mul", ["x", "m"], ["y"])],
        ("y",),
    ),
    "a scalar comes out": ((8,), [RELU, DOT, h.make_node("Squeeze", ["d"], ["y"])], ("y",)),
    "nothing beside something": (
        (8, 3),
        [RELU, CUT, h.make_node("Concat", ["r", "s"], ["y"], axis=0)],
        ("y",),
    ),
    "nothing comes out": ((8, 3), [RELU, CUT, h.make_node("Sigmoid", ["s"], ["y"])], ("y", "r")),
}


@pytest.fixture(params=CASES)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """m.onnx, and list.txt with two inputs."""
    shape, nodes, outputs = CASES[request.param]
    arrays = {"two": np.float32(2), "zero": np.array([0]), "ones": np.ones((8, 1), np.float32)}
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("x", SINGLE, shape)],
        [h.make_tensor_value_info(name, SINGLE, None) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items()],
    )
    opset = [h.make_opsetid("", 17)]
    onnx.save(h.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "m.onnx")
    for index in range(2):
        values = np.random.default_rng(index).standard_normal(shape)
        np.asarray(values, "<f4").tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("0.raw\n1.raw\n")


@pytest.mark.usefixtures("model")
def test_every_command_takes_it(command: Command) -> None:
    lines = [
        "convert m.onnx -o m.dlc",
        "quantize m.dlc --input-list list.txt -o q.dlc --use-enhanced-quantizer both",
        "quantize m.dlc --input-list list.txt -o c.dlc --optimizations cle,bc",
        "info m.onnx",
        "info q.dlc --json i.json",
        "partition --chip sd855 q.dlc",
        "bench --model q.dlc --chip sd855 --timing-only",
        "throughput q.dlc --chip sd855 --runtime dsp",
        "decide m.onnx --files --input-list list.txt --chips sd855",
        "profile q.dlc --chip sd855 --runtime aip",
        "profile q.dlc --chip sd835 --runtime dsp",
        "run --chip sd835 q.dlc --runtime dsp --input-list list.txt",
        "validate --chip sd835 "
        "q.dlc --input-list list.txt --sensitivity --explain --json v.json --csv v.csv",
    ]
    for line in lines:
        code, _, err = command(line)
        assert code == 0, (line, err)
    code, _, err = command("profile q.dlc --chip sd855 --runtime cpu --roofline")
    assert code == 0 or "multiplies on CPU" in err


@pytest.mark.parametrize("runtime", ["dsp", "cpu"])
def test_a_network_without_layers_takes_no_time(
    command: Command, tmp_path: Path, runtime: str
) -> None:
    """Its output is its input. What divides by its time says so, and everything else answers."""
    x = h.make_tensor_value_info("x", SINGLE, (2, 3))
    graph = h.make_graph([RELU], "g", [x], [x])
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    for line in (
        "info m.onnx",
        f"bench --chip sd835 --model m.onnx --runtime {runtime} --json b.json",
        f"profile --chip sd835 m.onnx --runtime {runtime} --json p.json --html p.html",
        "partition --chip sd855 m.onnx",
        "validate --chip sd835 m.onnx",
        "overview --chip sd835 m.onnx --html r.html",
    ):
        code, said, err = command(line)
        assert code == 0, (line, err)
        if line.startswith("profile"):
            assert "has no layers: nothing is computed" in said
    for line in (
        f"throughput --chip sd835 m.onnx --runtime {runtime}",
        "always-on m.onnx --every 20 --chip sd855",
    ):
        code, _, err = command(line)
        assert code == 2, (line, err)
        assert "has no layers, so an inference takes no time" in err
