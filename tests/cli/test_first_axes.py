"""A first axis is a batch only where it runs through the network, for every entry point.

Time first into a recurrent layer, a pair of channels, and inputs with different first axes are one
item each. What the commands make of a list is what the API makes of the same arrays.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as h
import pytest

import hexsim
from hexsim import dlc
from hexsim.graph.batches import batch_size
from hexsim.graph.ir import FloatArray
from hexsim.quantization.model import Model
from hexsim.reports.text import number

Command = Callable[[str], tuple[int, str, str]]
SINGLE = onnx.TensorProto.FLOAT
LINES = 3


@dataclass(frozen=True)
class Case:
    """A model, the shapes of its inputs, and how many items a line of whole files has."""

    nodes: list[onnx.NodeProto]
    inputs: Mapping[str, tuple[int, ...]]
    outputs: tuple[str, ...]
    items: int

    def save(self, path: Path) -> None:
        rng = np.random.default_rng(1)
        shapes = {"W": (1, 16, 8), "R": (1, 16, 4), "k": (2, 2, 1, 1)}
        weights = [
            onnx.numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
            for name, shape in shapes.items()
        ]
        graph = h.make_graph(
            self.nodes,
            "g",
            [h.make_tensor_value_info(n, SINGLE, s) for n, s in self.inputs.items()],
            [h.make_tensor_value_info(n, SINGLE, None) for n in self.outputs],
            weights,
        )
        opset = [h.make_opsetid("", 17)]
        onnx.save(h.make_model(graph, opset_imports=opset, ir_version=8), path)

    def arrays(self) -> list[dict[str, FloatArray]]:
        rng = np.random.default_rng(2)
        shapes = self.inputs.items()
        return [
            {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes} for _ in range(LINES)
        ]


def _lstm(*state: str) -> onnx.NodeProto:
    return h.make_node("LSTM", ["s", "W", "R", *state], ["", "y"], hidden_size=4)


CASES = {
    "time first": Case(
        [h.make_node("Sigmoid", ["x"], ["s"]), _lstm()], {"x": (5, 1, 8)}, ("y",), items=1
    ),
    "inputs that differ": Case(
        [h.make_node("Sigmoid", ["x"], ["s"]), _lstm("", "", "h0")],
        {"x": (5, 1, 8), "h0": (1, 1, 4)},
        ("y",),
        items=1,
    ),
    "a pair of channels": Case(
        [
            h.make_node("Split", ["x"], ["a", "b"], axis=0),
            h.make_node("Add", ["a", "b"], ["m"]),
            h.make_node("Relu", ["m"], ["y"]),
        ],
        {"x": (2, 16)},
        ("y",),
        items=1,
    ),
    "no axis comes out": Case(
        [
            h.make_node("Relu", ["x"], ["m"]),
            h.make_node("ReduceMean", ["m"], ["y"], keepdims=0),
        ],
        {"x": (3, 16)},
        ("y",),
        items=1,
    ),
    "a batch": Case([h.make_node("Conv", ["x", "k"], ["y"])], {"x": (3, 2, 4, 4)}, ("y",), items=3),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    """m.onnx, and list.txt with a line of whole files for each of the inputs."""
    chosen = CASES[request.param]
    chosen.save(tmp_path / "m.onnx")
    network = hexsim.load(tmp_path / "m.onnx").network
    lines = []
    for index, arrays in enumerate(chosen.arrays()):
        for name, array in arrays.items():
            network.tensors[name].from_source(array).tofile(tmp_path / f"{name}{index}.raw")
        lines.append(" ".join(f"{name}:={name}{index}.raw" for name in arrays))
    (tmp_path / "list.txt").write_text("\n".join(lines))
    return chosen


def test_quantize(command: Command, tmp_path: Path, case: Case) -> None:
    assert command("quantize m.onnx --input-list list.txt -o q.dlc")[0] == 0
    model = dlc.read(tmp_path / "q.dlc").model
    assert model.quantized
    expected = hexsim.quantize(hexsim.load(tmp_path / "m.onnx"), case.arrays())
    assert model.activations == expected.activations
    assert model.parameters == expected.parameters


@pytest.mark.parametrize("runtime", ["cpu", "dsp"])
def test_run(command: Command, tmp_path: Path, case: Case, runtime: str) -> None:
    assert command("quantize m.onnx --input-list list.txt -o q.dlc")[0] == 0
    code, _, _ = command(f"run --chip sd835 q.dlc --input-list list.txt --runtime {runtime} -o out")
    assert code == 0
    model = dlc.read(tmp_path / "q.dlc").model
    for index, arrays in enumerate(case.arrays()):
        expected = hexsim.simulate(model, "sd835", runtime, arrays).outputs
        assert expected is not None
        stored = model.network.tensors["y"].from_source(expected["y"])
        written = np.fromfile(tmp_path / f"out/Result_{index}/y.raw", "<f4")
        np.testing.assert_array_equal(written, stored.ravel())
    assert not (tmp_path / f"out/Result_{LINES}").exists()


def test_validate_and_decide_count_the_same(command: Command, tmp_path: Path, case: Case) -> None:
    code, _, _ = command("validate --chip sd835 m.onnx --input-list list.txt --json v.json")
    assert code == 0
    hits = json.loads((tmp_path / "v.json").read_text())["hits"]
    judging = LINES // 2 * case.items  # the other lines calibrate
    assert hits["inputs"] == judging
    code, out, _ = command("decide m.onnx --files --input-list list.txt --chips sd835")
    assert (code, f", {number(judging, 'input')}\n" in out) == (0, True)


def test_labels_are_one_for_each_item(command: Command, tmp_path: Path, case: Case) -> None:
    (tmp_path / "labels.txt").write_text("0\n" * LINES * case.items)
    code, _, err = command("validate --chip sd835 m.onnx --input-list list.txt --labels labels.txt")
    assert (code, err) == (0, "")
    (tmp_path / "labels.txt").write_text("0\n" * (LINES * case.items - 1))
    code, _, err = command("validate --chip sd835 m.onnx --input-list list.txt --labels labels.txt")
    assert code == 2
    assert f"labels for {LINES * case.items} inputs" in err


def test_files_of_one_item_are_for_batches(command: Command, tmp_path: Path, case: Case) -> None:
    """A batch may come item by item; of anything else a part is no input."""
    name = next(iter(case.inputs))
    if len(case.inputs) > 1:
        pytest.skip("the files of a line are of different first axes")
    network = hexsim.load(tmp_path / "m.onnx").network
    rows = np.concatenate([network.tensors[name].from_source(a[name]) for a in case.arrays()])
    for index, row in enumerate(rows):
        row.tofile(tmp_path / f"row{index}.raw")
    (tmp_path / "rows.txt").write_text("".join(f"row{i}.raw\n" for i in range(len(rows))))
    code, _, err = command("quantize m.onnx --input-list rows.txt -o rows.dlc")
    assert batch_size(network) == case.items
    if case.items == 1:
        assert code == 2
        assert "inappropriate number of bytes" in err
        return
    assert code == 0
    assert command("quantize m.onnx --input-list list.txt -o q.dlc")[0] == 0
    from_rows, other = (dlc.read(tmp_path / file).model for file in ("rows.dlc", "q.dlc"))
    assert from_rows.activations == other.activations


def test_what_fills_up_a_batch_changes_no_range(command: Command, tmp_path: Path) -> None:
    """Zeros would: all that the list holds lies between 1 and 2."""
    CASES["a batch"].save(tmp_path / "m.onnx")
    for index in range(4):
        np.full(32, 1 + index / 3, "<f4").tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(4)))
    assert command("quantize m.onnx --input-list list.txt -o q.dlc")[0] == 0
    model = dlc.read(tmp_path / "q.dlc").model
    network = hexsim.load(tmp_path / "m.onnx").network
    whole = [np.repeat(np.float32([1, 4 / 3, 5 / 3]), 32), np.full(96, 2, np.float32)]
    expected = hexsim.quantize(Model(network), [a.reshape(3, 2, 4, 4) for a in whole])
    assert model.activations == expected.activations
