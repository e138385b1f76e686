"""Networks of codes: every entry point answers as onnxruntime, up to a step of the output.

One takes and returns the integers of its file; in the other, nodes on codes lie between quantising
and dequantising nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime
from hexsim.snpe import Session
from tests.cli.conftest import Done
from tests.thorough import paired

Command = Callable[[str], Done]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

INPUT_SCALE, INPUT_ZERO = np.float32(0.03), 128
OUTPUT_SCALE, OUTPUT_ZERO = np.float32(0.1), 100
SHAPE = (1, 4, 6, 7)
CODES = np.random.default_rng(7).integers(1, 256, SHAPE).astype(np.uint8)
REALS = ((CODES.astype(np.float32) - INPUT_ZERO) * INPUT_SCALE).astype(np.float32)
ARRAYS: dict[str, Any] = {
    "xs": INPUT_SCALE,
    "xz": np.uint8(INPUT_ZERO),
    "ys": OUTPUT_SCALE,
    "yz": np.uint8(OUTPUT_ZERO),
    "low": np.uint8(1),
    "high": np.uint8(190),
    "wq": np.random.default_rng(3).integers(-7, 8, (6, 4, 3, 3)).astype(np.int8),
    "wlow": np.int8(-7),
    "whigh": np.int8(7),
    "ws": np.array([0.02, 0.03, 0.04, 0.01, 0.05, 0.02], np.float32),
    "wz": np.zeros(6, np.int8),
}
WEIGHT = [
    helper.make_node("Clip", ["wq", "wlow", "whigh"], ["wc"], "wc"),
    helper.make_node("DequantizeLinear", ["wc", "ws", "wz"], ["w"], "w", axis=0),
]
EDGES = [
    helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xd"], "xd"),
    helper.make_node("Conv", ["xd", "w"], ["c"], "c"),
    helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["y"], "y"),
]
BETWEEN = [
    helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"], "xq"),
    helper.make_node("Clip", ["xq", "low", "high"], ["xc"], "xc"),
    helper.make_node("DequantizeLinear", ["xc", "xs", "xz"], ["xd"], "xd"),
    helper.make_node("Conv", ["xd", "w"], ["c"], "c"),
    helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["yq"], "yq"),
    helper.make_node("Clip", ["yq", "low", "high"], ["yc"], "yc"),
    helper.make_node("DequantizeLinear", ["yc", "ys", "yz"], ["y"], "y"),
]


class Kind(NamedTuple):
    """A network of the two."""

    nodes: list[onnx.NodeProto]
    element: int


KINDS = {
    "edges": Kind(EDGES, TensorProto.UINT8),
    "between": Kind(BETWEEN, TensorProto.FLOAT),
}
PLACES: list[tuple[str, Runtime]] = [
    ("sd835", "dsp"),
    ("sd855", "dsp"),
    ("sd855", "aip"),
    ("sd855", "cpu"),
    ("sd8gen2", "htp"),
]


def proto(kind: str) -> onnx.ModelProto:
    nodes, element = KINDS[kind]
    graph = helper.make_graph(
        [*WEIGHT, *nodes],
        "codes",
        [helper.make_tensor_value_info("x", element, SHAPE)],
        [helper.make_tensor_value_info("y", element, (1, 6, 4, 5))],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in ARRAYS.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@cache
def quantized(kind: str) -> Model:
    return hexsim.quantize(hexsim.load(proto(kind)), [given(kind)])


def given(kind: str) -> np.ndarray:
    """The input in the type of the file."""
    return CODES if kind == "edges" else REALS


def reals(output: np.ndarray) -> Floats:
    """The real numbers of an output, which may be codes."""
    if output.dtype == np.uint8:
        output = (output.astype(np.float32) - OUTPUT_ZERO) * OUTPUT_SCALE
    return np.asarray(output, np.float32)


@cache
def expected(kind: str) -> Floats:
    """What onnxruntime answers, node by node as they stand in the file."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto(kind).SerializeToString(), options)
    answer = reals(session.run(None, {"x": given(kind)})[0])
    assert np.unique(answer).size > 20, "an answer that tells something"
    return answer


def stored(array: np.ndarray) -> np.ndarray:
    """Channels last."""
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1))


def require_near(answer: np.ndarray, kind: str, entry: str) -> None:
    far = np.abs(reals(answer) - expected(kind)).max() / OUTPUT_SCALE
    assert far <= 1.001, f"{entry}: {far} steps"


@pytest.mark.parametrize(("kind", "place"), paired(list(KINDS), PLACES, 3))
def test_python_answers_as_onnxruntime(
    kind: str, place: tuple[str, Runtime], tmp_path: Path
) -> None:
    """In memory and from a file; of codes and of real numbers."""
    chip, runtime = place
    model, file = quantized(kind), tmp_path / "q.dlc"
    hexsim.save(model, file)
    for entry in (model, file):
        for x in (given(kind), REALS):
            simulated = hexsim.simulate(entry, chip, runtime, {"x": x}).outputs
            assert simulated is not None
            (ran,) = hexsim.run(entry, [{"x": x}], chip, runtime)
            assert simulated["y"].dtype == ran["y"].dtype == given(kind).dtype
            np.testing.assert_array_equal(simulated["y"], ran["y"])
            require_near(ran["y"], kind, f"{type(entry)} of {x.dtype}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_answers_in_real_numbers(kind: str) -> None:
    session = Session(quantized(kind))
    for x in (given(kind), REALS):
        answer = session.execute({"x": stored(x)})["y"]
        assert answer.dtype == np.float32
        require_near(answer.transpose(0, 3, 1, 2), kind, f"session of {x.dtype}")


def result(folder: Path, dtype: str) -> np.ndarray:
    answer = np.fromfile(folder / "out" / "Result_0" / "y.raw", dtype)
    return answer.reshape(1, 4, 5, 6).transpose(0, 3, 1, 2)


@pytest.fixture
def files(kind: str, tmp_path: Path) -> None:
    """The quantised network, and its input as floats and as codes."""
    hexsim.save(quantized(kind), tmp_path / "q.dlc")
    for name, x in (("float", REALS), ("own", CODES)):
        stored(x).tofile(tmp_path / f"{name}.raw")
        (tmp_path / f"{name}.txt").write_text(f"{name}.raw\n")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("kind", "place"), paired(list(KINDS), PLACES, 2, 3))
def test_run_answers_as_onnxruntime(
    kind: str, place: tuple[str, Runtime], command: Command, tmp_path: Path
) -> None:
    chip, runtime = place
    line = f"run q.dlc --chip {chip} --runtime {runtime} --input-list float.txt -o out"
    answers = []
    for threads in (1, 2):
        assert command(f"{line} --threads {threads}").code == 0
        answers.append(result(tmp_path, "<f4"))
        require_near(answers[-1], kind, line)
    np.testing.assert_array_equal(answers[0], answers[1], "two threads")


OWN = "--input_list own.txt --use_native_input_files"
BUFFERS = (
    "--input_list float.txt",
    "--input_list float.txt --userbuffer_float",
    "--input_list float.txt --userbuffer_auto",
    f"{OWN} --userbuffer_tf8",
    f"{OWN} --use_native_output_files --userbuffer_tf8",
    f"{OWN} --use_native_output_files --userbuffer_auto",
)
"""Float files and files of codes, in float buffers and in buffers of codes."""


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("kind", "where", "line"),
    [
        (kind, where, line)
        for start, kind in enumerate(KINDS)
        for where, line in paired(("--use_dsp", "--use_aip", ""), BUFFERS, 2, 3 * start)
    ],
)
def test_net_run_answers_as_onnxruntime(
    kind: str, where: str, line: str, tool: Command, tmp_path: Path
) -> None:
    code, _, err = tool(
        f"snpe-net-run --chip sd855 --container q.dlc --output_dir out {where} {line}"
    )
    assert code == 0, err
    dtype = "|u1" if "--use_native_output_files" in line else "<f4"
    require_near(result(tmp_path, dtype), kind, line)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("kind", ["edges"])
def test_a_file_of_codes_where_floats_are_expected(command: Command, tool: Command) -> None:
    """The refusal says what the codes stand for."""
    for entry, line in (
        (command, "run --chip sd835 q.dlc --input-list own.txt"),
        (tool, "snpe-net-run --container q.dlc --input_list own.txt"),
        (tool, "snpe-net-run --container q.dlc --input_list own.txt --use_native_input_files"),
    ):
        code, _, err = entry(line)
        assert code != 0, line
        assert (
            "write float32 numbers, little endian, channels last, without header (uint8 code c of "
            "the ONNX file stands for 0.0299999993 * (c - 128))"
        ) in err, line
        assert "Traceback" not in err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("kind", ["edges"])
def test_the_listing_tells_both_ends(command: Command) -> None:
    listing = command("info q.dlc --layout snpe --wide").out
    assert "codes in the ONNX file: uint8, scale 0.03, zero point 128" in listing
    assert "codes in the ONNX file: uint8, scale 0.1, zero point 100" in listing
