"""Inputs of integers and booleans: type by wrong value by entry, each refused in one sentence.

No entry cuts a number, wraps it round, or takes the bits of integers for floats. What a type has
comes through every entry point as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import hexsim
import hexsim.onnx_backend
from hexsim.errors import HexsimError
from hexsim.snpe import Session
from tests.cli.conftest import Done
from tests.entry_points.places import STACK
from tests.thorough import paired

Command = Callable[[str], Done]

RANGES = {
    "bool": "0 and 1",
    "uint8": "whole numbers from 0 to 255",
    "int8": "whole numbers from -128 to 127",
    "uint16": "whole numbers from 0 to 65535",
    "int32": "whole numbers from -2147483648 to 2147483647",
    "int64": "whole numbers from -9223372036854775808 to 9223372036854775807",
}
WRONG: dict[str, list[float]] = {
    "bool": [2, -1, 0.5],
    "uint8": [300, -1, 0.9],
    "int8": [128, -129, 0.9],
    "uint16": [65536, -1, 0.9],
    "int32": [2147483648, 0.9, float("inf")],
    "int64": [9223372036854775808, 0.9, float("nan")],
}
CASES = [(dtype, WRONG[dtype][turn]) for dtype, turn in paired(list(WRONG), range(3), 1)]
IDS = [f"{dtype}-{wrong}" for dtype, wrong in CASES]
RIGHT: dict[str, list[int]] = {
    "bool": [0, 1, 1, 0, 1, 0],
    "uint8": [0, 1, 127, 128, 254, 255],
    "int8": [-128, -127, -1, 0, 1, 127],
    "uint16": [0, 1, 255, 256, 65534, 65535],
    "int32": [-2147483648, -1, 0, 1, 2049, 16777216],
    "int64": [-9223372036854775808, -1, 0, 1, 2049, 16777216],
}
"""Numbers of each type that are float32 as well, so that they may stand in any file."""


def onnx_model(dtype: str) -> onnx.ModelProto:
    """y is x as floats, for six numbers."""
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)],
        "g",
        [helper.make_tensor_value_info("x", element, (1, 6))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 6))],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def python_ways(dtype: str, folder: Path) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Functions of an input that return the output; each takes the model in another way."""
    source = onnx_model(dtype)
    model, file = hexsim.load(source), folder / "m.dlc"
    hexsim.save(model, file)

    def simulate(given: object, runtime: str, x: object) -> np.ndarray:
        return hexsim.simulate(given, "sd835", runtime, x, stack=STACK).outputs["y"]

    def run(given: object, runtime: str, sets: object) -> np.ndarray:
        (answer,) = hexsim.run(given, sets, "sd835", runtime, stack=STACK)
        return answer["y"]

    backend = hexsim.onnx_backend
    return {
        "simulate": lambda x: simulate(model, "cpu", x),
        "simulate a file": lambda x: simulate(file, "dsp", {"x": x}),
        "run": lambda x: run(file, "cpu", [x]),
        "run an iterator": lambda x: run(model, "dsp", iter([x])),
        "session": lambda x: Session(file, stack=STACK).execute({"x": x})["y"],
        "backend": lambda x: backend.prepare(source).run([x])[0],
    }


def given(number: float) -> np.ndarray:
    """Six numbers, of which the fourth is no zero."""
    return np.array([[0, 0, 0, number, 0, 0]], np.float64)


@pytest.mark.parametrize(("dtype", "wrong"), CASES, ids=IDS)
def test_python_refuses_it(dtype: str, wrong: float, tmp_path: Path) -> None:
    model = hexsim.load(onnx_model(dtype))
    assert model.network.tensors["x"].dtype == dtype
    ways = python_ways(dtype, tmp_path)
    ways["quantize"] = lambda x: hexsim.quantize(model, [x])
    arrays = [given(wrong)] if wrong % 1 else [given(wrong), np.array([[0, 0, 0, wrong, 0, 0]])]
    for name, entry in ways.items():
        for array in arrays:
            with pytest.raises(HexsimError) as refused:
                entry(array)
            said = str(refused.value)
            assert said.startswith("input 'x' holds "), name
            assert " at index [0, 3], but a" in said
            assert f" {dtype} input takes {RANGES[dtype]}; give it such numbers" in said
            assert "\n" not in said


COMMANDS = (
    "run --chip sd835 m.dlc --runtime cpu --threads 1 --input-list list.txt -o out",
    "run --chip sd835 m.dlc --runtime dsp --threads 2 --input-list list.txt -o out",
    "validate --chip sd835 m.dlc --runtime cpu --input-list list.txt",
    "bench --chip sd835 --model m.dlc --runtime dsp --input-list list.txt",
    "quantize m.dlc --input-list list.txt -o out.dlc",
)
TOOLS = (
    "snpe-net-run --container m.dlc --input_list list.txt --output_dir out",
    "snpe-net-run --container m.dlc --input_list list.txt --output_dir out --userbuffer_floatN 16",
    "snpe-parallel-run --container m.dlc --input_list list.txt --output_dir out --use_cpu",
    "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --output_dlc out.dlc",
)


@pytest.mark.parametrize(("case", "line"), paired(CASES, (*COMMANDS, *TOOLS), 3), ids=str)
def test_commands_refuse_it(
    case: tuple[str, float], line: str, command: Command, tool: Command, tmp_path: Path
) -> None:
    dtype, wrong = case
    hexsim.save(hexsim.load(onnx_model(dtype)), tmp_path / "m.dlc")
    given(1).astype("<f4").tofile(tmp_path / "right.raw")
    given(wrong).astype("<f4").tofile(tmp_path / "wrong.raw")
    (tmp_path / "list.txt").write_text("right.raw\nwrong.raw\n")
    code, _, err = (command if line in COMMANDS else tool)(line)
    assert code != 0
    said = err.splitlines()[-1]
    assert "input list 'list.txt', line 2: 'wrong.raw' for input 'x' holds " in said
    assert f" {dtype} input takes {RANGES[dtype]}; " in said
    assert " at index [3], but a" in said
    assert "Traceback" not in err
    assert not (tmp_path / "out.dlc").exists()


@pytest.mark.parametrize(
    ("dtype", "kind"), paired(list(RIGHT), ("float64", "float32", "int64", "own"), 1)
)
def test_right_numbers_come_through_python(dtype: str, kind: str, tmp_path: Path) -> None:
    numbers = np.array([RIGHT[dtype]])
    for name, entry in python_ways(dtype, tmp_path).items():
        answer = entry(numbers.astype(dtype if kind == "own" else kind))
        np.testing.assert_array_equal(answer, numbers.astype(np.float32), name)


RUN = "snpe-net-run --container m.dlc --output_dir out --input_list list.txt"
DSP = "--use_dsp --enable_cpu_fallback --userbuffer_auto --userbuffer_float_output"
HALF = "--userbuffer_floatN 16 --userbuffer_floatN_output 32"
OWN = "--use_native_input_files"
"""Files hold what the type says, not float32."""
RUNS = (
    COMMANDS[0],
    COMMANDS[1],
    RUN,
    f"{RUN} {HALF}",
    f"{RUN} {DSP}",
    f"{RUN} {OWN}",
    f"{RUN} {OWN} {DSP}",
    f"{RUN} {OWN} {HALF}",
)


@pytest.mark.parametrize(("dtype", "line"), paired(list(RIGHT), RUNS, 3))
def test_right_numbers_come_through_commands(
    dtype: str, line: str, command: Command, tool: Command, tmp_path: Path
) -> None:
    hexsim.save(hexsim.load(onnx_model(dtype)), tmp_path / "m.dlc")
    numbers = np.array([RIGHT[dtype]])
    expected = numbers.astype(np.float32)
    (numbers.astype(dtype) if OWN in line else expected).tofile(tmp_path / "x.raw")
    (tmp_path / "list.txt").write_text("x.raw\n")
    code, _, err = (command if line in COMMANDS else tool)(line)
    assert code == 0, err
    written = np.fromfile(tmp_path / "out/Result_0/y.raw", np.float32)
    np.testing.assert_array_equal(written, expected[0])


def test_bits_of_integers_are_not_floats(tool: Command, command: Command, tmp_path: Path) -> None:
    """1 as int32 is 1e-45 as float32, and -1 is NaN."""
    hexsim.save(hexsim.load(onnx_model("int32")), tmp_path / "m.dlc")
    hint = "write them as float32, or snpe-net-run takes int32 numbers as native input files"
    (tmp_path / "list.txt").write_text("x.raw\n")
    for number, shown in ((1, "1e-45"), (-1, "NaN")):
        given(number).astype("<i4").tofile(tmp_path / "x.raw")
        for entry, line in ((command, COMMANDS[0]), (tool, TOOLS[0])):
            code, _, err = entry(line)
            assert code != 0
            assert f"holds {shown} at index [3], but an int32 input takes" in err
            assert hint in err
        assert tool(f"{TOOLS[0]} --use_native_input_files").code == 0
        written = np.fromfile(tmp_path / "out/Result_0/y.raw", np.float32)
        assert written.tolist() == [0, 0, 0, number, 0, 0]


def test_files_of_int32_for_an_input_of_int64(tool: Command, tmp_path: Path) -> None:
    hexsim.save(hexsim.load(onnx_model("int64")), tmp_path / "m.dlc")
    (tmp_path / "list.txt").write_text("x.raw\n")
    for kind in ("<i4", "<i8"):
        given(-70000).astype(kind).tofile(tmp_path / "x.raw")
        assert tool(f"{TOOLS[0]} --use_native_input_files").code == 0
        written = np.fromfile(tmp_path / "out/Result_0/y.raw", np.float32)
        assert written.tolist() == [0, 0, 0, -70000, 0, 0]
    code, _, err = tool(TOOLS[0])
    assert code != 0
    assert "(48)" in err
    assert "(snpe-net-run takes int64 numbers as native input files)" in err


def test_bytes_of_booleans_are_0_and_1(tool: Command, tmp_path: Path) -> None:
    hexsim.save(hexsim.load(onnx_model("bool")), tmp_path / "m.dlc")
    (tmp_path / "list.txt").write_text("x.raw\n")
    given(2).astype("u1").tofile(tmp_path / "x.raw")
    code, _, err = tool(f"{TOOLS[0]} --use_native_input_files")
    assert code != 0
    assert "holds 2 at index [3], but a bool input takes 0 and 1; write such numbers" in err


@pytest.mark.parametrize("dtype", RIGHT)
def test_files_of_integers_that_come_out(dtype: str, tool: Command, tmp_path: Path) -> None:
    model = onnx_model(dtype)
    model.graph.node[0].CopyFrom(helper.make_node("Identity", ["x"], ["y"]))
    model.graph.output[0].type.CopyFrom(model.graph.input[0].type)
    hexsim.save(hexsim.load(model), tmp_path / "m.dlc")
    numbers = np.array(RIGHT[dtype]).astype(dtype)
    numbers.tofile(tmp_path / "x.raw")
    (tmp_path / "list.txt").write_text("x.raw\n")
    native = f"{TOOLS[0]} --use_native_input_files"
    assert tool(native).code == 0
    written = tmp_path / "out/Result_0/y.raw"
    assert np.fromfile(written, "<f4").tolist() == numbers.astype(np.float32).tolist()
    for buffers in ("", "--userbuffer_auto", "--userbuffer_floatN 16"):
        assert tool(f"{native} --use_native_output_files {buffers}").code == 0
        assert written.read_bytes() == numbers.tobytes(), buffers


def test_codes_of_a_session_are_those_of_the_file() -> None:
    """Bytes for an input whose file quantises them: 3 is 1.5 there, floats are real numbers."""
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.UINT8, (1, 3))],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 3))],
            [
                onnx.numpy_helper.from_array(np.float32(0.5), "s"),
                onnx.numpy_helper.from_array(np.uint8(0), "z"),
            ],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    session = Session(hexsim.load(model))
    for given in (np.uint8([[0, 3, 255]]), np.float32([[0, 1.5, 127.5]])):
        assert session.execute({"x": given})["y"].tolist() == [[0, 1.5, 127.5]]
    with pytest.raises(HexsimError, match="'x' has dtype int64; give codes"):
        session.execute({"x": np.int64([[0, 3, 300]])})
