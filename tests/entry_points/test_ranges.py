"""Ranges of codes (quantised values): of a float file, of one with all encodings, and of inputs.

Through every entry point a float network has the ranges of the inputs that are run, and a network
in QDQ form needs no inputs. Inputs that do not suit the range of their codes are reported.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import hexsim
from hexsim.deployment.at_load import is_coded
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.runtimes import Runtime
from hexsim.snpe import Runtime as SnpeRuntime
from hexsim.snpe import Session
from tests.cli.conftest import Done
from tests.conftest import make_model, run_onnx
from tests.entry_points.coded_networks import BIAS, OPERATORS, Array, CodedNetwork, Step
from tests.hearing import hearing
from tests.thorough import examples

Command = Callable[[str], Done]
CODED_PLACES: list[tuple[str, Runtime]] = [("sd8gen2", "htp"), ("sd865", "dsp"), ("sd855", "aip")]
"""Runtimes that refuse a float network."""
STEPS = (Step("conv", 0, 0), Step("add", 1, 0), Step("average", 2, 0))


def sqnr_db(expected: Array, answer: Array) -> float:
    noise = ((expected.astype(np.float64) - answer) ** 2).sum()
    return float(10 * np.log10((expected.astype(np.float64) ** 2).sum() / max(noise, 1e-30)))


def stored(array: Array) -> Array:
    """Channels last."""
    return np.ascontiguousarray(array.transpose(0, 2, 3, 1))


def listed(folder: Path, inputs: list[Array]) -> None:
    for index, array in enumerate(inputs):
        stored(array).tofile(folder / f"{index}.raw")
    (folder / "list.txt").write_text("".join(f"{index}.raw\n" for index in range(len(inputs))))


def written(folder: Path, name: str, shape: tuple[int, ...]) -> list[Array]:
    """The results of a run, in the axes of the ONNX file."""
    batch, channels, height, width = shape
    count = len(list(folder.glob("Result_*")))
    return [
        np.fromfile(folder / f"Result_{index}" / f"{name}.raw", np.float32)
        .reshape(batch, height, width, channels)
        .transpose(0, 3, 1, 2)
        for index in range(count)
    ]


@pytest.fixture
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@cache
def float_conv() -> tuple[onnx.ModelProto, list[Array]]:
    """A convolution, and inputs a hundred times as large as seeded ones."""
    rng = np.random.default_rng(51)
    weight = (rng.standard_normal((8, 3, 3, 3)) * 0.2).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv", pads=[1] * 4)
    model = make_model([node], {"x": (1, 3, 16, 16)}, ["y"], {"w": weight})
    inputs = [(rng.standard_normal((1, 3, 16, 16)) * 100).astype(np.float32) for _ in range(3)]
    return model, inputs


def answers_to_one_input(
    command: Command, tool: Command, folder: Path
) -> Iterator[tuple[str, Array]]:
    """What each entry answers to the first input."""
    model, (x, *_) = float_conv()
    loaded = hexsim.load(model)
    simulated = hexsim.simulate(loaded, inputs=x, chip="sd835").outputs
    assert simulated is not None
    yield "simulate", simulated["y"]
    yield "run of a list", next(hexsim.run(loaded, [x], chip="sd835"))["y"]
    yield "run of an iterator", next(hexsim.run(loaded, iter([x]), chip="sd835"))["y"]
    session = Session(loaded, SnpeRuntime.DSP, chip="sd835")
    assert session.timing.total_us > 0
    yield "session", session.execute({"x": stored(x)})["y"].transpose(0, 3, 1, 2)
    onnx.save(model, folder / "m.onnx")
    hexsim.save(loaded, folder / "m.dlc")
    listed(folder, [x])
    for file in ("m.onnx", "m.dlc"):
        done = command(f"run --chip sd835 {file} --runtime dsp --input-list list.txt -o out")
        assert (done.code, "with ranges of the inputs that are run" in done.err) == (0, True)
        yield f"run --chip sd835 {file}", written(folder / "out", "y", (1, 8, 16, 16))[0]
    for line in (
        "snpe-net-run --use_dsp",
        "snpe-net-run --use_dsp --userbuffer_tf8 --static_min_max --userbuffer_float_output",
        "snpe-parallel-run --use_dsp --perf_profile burst --cpu_fallback false",
    ):
        done = tool(f"{line} --container m.dlc --input_list list.txt --output_dir out")
        assert done.code == 0, done.err
        assert "with ranges of the inputs that are run" in done.err, line
        yield line, written(folder / "out", "y", (1, 8, 16, 16))[0]


@pytest.mark.usefixtures("no_warnings")
def test_a_float_network_has_the_ranges_of_its_inputs_through_every_entry_point(
    command: Command, tool: Command, tmp_path: Path
) -> None:
    model, (x, *_) = float_conv()
    expected = run_onnx(model, {"x": x})["y"]
    answers = dict(answers_to_one_input(command, tool, tmp_path))
    first = answers["simulate"]
    assert sqnr_db(expected, first) > 30
    for entry, answer in answers.items():
        np.testing.assert_array_equal(answer, first, entry)


@pytest.mark.usefixtures("no_warnings")
def test_a_list_calibrates_as_a_whole(command: Command, tmp_path: Path) -> None:
    model, inputs = float_conv()
    larger = [*inputs, 2 * inputs[0]]
    onnx.save(model, tmp_path / "m.onnx")
    listed(tmp_path, larger)
    assert command("run --chip sd835 m.onnx --runtime dsp --input-list list.txt -o out").code == 0
    ran = [answer["y"] for answer in hexsim.run(hexsim.load(model), larger, chip="sd835")]
    for x, answer, file in zip(
        larger, ran, written(tmp_path / "out", "y", ran[0].shape), strict=True
    ):
        np.testing.assert_array_equal(answer, file)
        assert sqnr_db(run_onnx(model, {"x": x})["y"], answer) > 30


def test_only_the_first_input_of_an_iterator_is_read_at_once() -> None:
    model, inputs = float_conv()
    read: list[int] = []

    def one_by_one() -> Iterator[Array]:
        for index, array in enumerate(inputs):
            read.append(index)
            yield array

    answers = hexsim.run(hexsim.load(model), one_by_one(), chip="sd835")
    assert read == [0]
    alone = next(hexsim.run(hexsim.load(model), inputs[:1], chip="sd835"))
    np.testing.assert_array_equal(next(answers)["y"], alone["y"])
    assert read == [0]
    assert len(list(answers)) == 2


@st.composite
def coded_networks(draw: st.DrawFn) -> CodedNetwork:
    numbers = st.integers(0, 9)
    steps = draw(
        st.lists(
            st.builds(
                Step, st.sampled_from(OPERATORS), numbers, numbers, st.sampled_from(list(BIAS))
            ),
            min_size=1,
            max_size=5,
        )
    )
    last = Step("conv", len(steps), 0)  # an output that is computed
    return CodedNetwork([*steps, last], draw(st.integers(0, 99)), draw(st.sampled_from([8, 16])))


@pytest.mark.slow
@examples(60)
@given(network=coded_networks())
def test_a_network_with_all_encodings_needs_no_inputs(network: CodedNetwork) -> None:
    """On runtimes that refuse floats it answers as onnxruntime does, quantised before or not."""
    loaded = hexsim.load(network.model)
    assert is_coded(loaded, Platform.load("sd8gen2"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of coarse biases
        quantized = hexsim.quantize(loaded)
        for chip, runtime in CODED_PLACES[: 1 if network.bits == 16 else 3]:
            (answer,) = next(hexsim.run(loaded, [network.input], chip, runtime)).values()
            (again,) = next(hexsim.run(quantized, [network.input], chip, runtime)).values()
            np.testing.assert_array_equal(answer, again)
            assert sqnr_db(network.answer(), answer) > 30


@pytest.mark.slow
@examples(30)
@given(network=coded_networks(), data=st.data())
def test_what_lacks_one_encoding_is_float(network: CodedNetwork, data: st.DataObject) -> None:
    """The refusal names a tensor; in floats nothing needs an encoding."""
    numbers = st.integers(0, len(network.names))
    partly = network.without(data.draw(numbers))
    loaded = hexsim.load(partly.model)
    if is_coded(loaded, Platform.load("sd8gen2")):  # the tensor only moves codes, or is fused
        return
    with pytest.raises(HexsimError, match=r"is float, as \d+ tensors? (has|have) no encoding \('"):
        hexsim.profile(loaded, "sd8gen2", "htp", quantize=False)
    with pytest.warns(UserWarning, match="answers mean nothing"):
        hexsim.quantize(loaded)
    (answer,) = next(hexsim.run(loaded, [network.input], "sd8gen2", "htp_fp16")).values()
    assert answer.shape == network.answer().shape, "products may overflow float16"


@pytest.mark.parametrize("bits", [8, 16])
def test_a_coded_file_runs_through_every_entry_point(
    bits: int, command: Command, tool: Command, tmp_path: Path
) -> None:
    network = CodedNetwork(STEPS, bits=bits)
    onnx.save(network.model, tmp_path / "m.onnx")
    listed(tmp_path, [network.input])
    name, shape = network.model.graph.output[0].name, (1, 4, 8, 8)
    (answer,) = next(hexsim.run("m.onnx", [network.input], "sd8gen2", "htp")).values()
    assert sqnr_db(network.answer(), answer) > 35
    where = "--chip sd8gen2 --runtime htp"
    assert command("quantize m.onnx -o q.dlc").code == 0
    for file in ("m.onnx", "q.dlc"):
        done = command(f"run --chip sd835 {file} {where} --input-list list.txt -o out")
        assert done.code == 0, done.err
        assert "ranges of the inputs" not in done.err
        np.testing.assert_array_equal(written(tmp_path / "out", name, shape)[0], answer)
    times = [hexsim.simulate(file, "sd8gen2", "htp") for file in ("m.onnx", "q.dlc")]
    assert times[0].total_us == times[1].total_us
    assert times[0].timing.init_ps == times[1].timing.init_ps, "quantised before, not at load"
    done = tool("snpe-dlc-quant --input_dlc m.onnx --output_dlc s.dlc --override_params")
    assert done.code == 0, done.err
    for file in ("m.onnx", "s.dlc"):
        line = f"snpe-net-run --chip sd8gen2 --use_dsp --container {file} --input_list list.txt"
        assert tool(line).code == 0
        np.testing.assert_array_equal(written(tmp_path / "output", name, shape)[0], answer)
    for line in (
        f"bench --chip sd835 m.onnx {where} --input-list list.txt",
        f"profile --chip sd835 m.onnx {where}",
        f"throughput --chip sd835 m.onnx {where} --inferences 1",
        f"partition --chip sd855 m.onnx {where}",
        f"validate --chip sd835 m.onnx {where} --input-list list.txt",
    ):
        done = command(line)
        assert done.code == 0, done.err
        assert "calibrates" not in done.out, line
    assert "encodings of the file, which leave nothing to calibrate" in done.out


def test_what_an_incomplete_file_lacks_is_named(
    command: Command, tool: Command, tmp_path: Path
) -> None:
    network = CodedNetwork(STEPS, uncoded=[2])
    onnx.save(network.model, tmp_path / "m.onnx")
    done = command("quantize m.onnx -o q.dlc")
    assert (done.code, "has no encoding of 'y2'; give --input-list" in done.err) == (2, True)
    done = tool("snpe-dlc-quantize --input_dlc m.onnx --output_dlc q.dlc --override_params")
    assert (done.code, "inputs to calibrate on are missing, as" in done.err) == (2, True), done.err
    done = tool("snpe-dlc-quantize --input_dlc m.onnx --output_dlc q.dlc")
    assert (done.code, "or --override_params" in done.err) == (2, True), done.err
    with pytest.raises(HexsimError, match=r"as 1 tensor has no encoding \('y2'\)"):
        hexsim.profile("m.onnx", "sd8gen2", "htp", quantize=False)
    with hearing() as heard:
        next(hexsim.run("m.onnx", [network.input], "sd8gen2", "htp"))
    (said,) = (note for note in heard.notes if "as 1 tensor has no encoding ('y2')" in note)
    done = command("run m.onnx --chip sd8gen2 --runtime htp -o out")
    seeded = said.replace("the inputs that", "the seeded inputs that")
    assert (done.code, seeded in done.err) == (0, True), done.err
    assert not (tmp_path / "q.dlc").exists()


def test_encodings_that_are_not_applied_leave_a_network_float() -> None:
    loaded = hexsim.load(CodedNetwork(STEPS).model)
    with pytest.raises(HexsimError, match="is float and htp"):
        hexsim.profile(loaded, "sd8gen2", "htp", override_params=False, quantize=False)


SCALE, ZERO = 1 / 128, 128
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 256, (1, 3, 16, 16)).astype(np.uint8)
REALS = ((CODES.astype(np.float32) - ZERO) * SCALE).astype(np.float32)
OUTSIDE = "of the values lie outside -1 .. 0.9922, the range of its codes"


@cache
def coded_input() -> onnx.ModelProto:
    """A network with an input of codes, as TFLite files have that tf2onnx converts."""
    weight = (RNG.standard_normal((8, 3, 3, 3)) * 0.2).astype(np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["image", "s", "z"], ["x"]),
        helper.make_node("Conv", ["x", "w"], ["y"], "conv", pads=[1] * 4),
    ]
    arrays = {"s": np.float32(SCALE), "z": np.uint8(ZERO), "w": weight}
    graph = helper.make_graph(
        nodes,
        "coded",
        [helper.make_tensor_value_info("image", TensorProto.UINT8, CODES.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 8, 16, 16))],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


CODES_AS_REALS = CODES.astype(np.float32)


@pytest.mark.parametrize("runtime", ["dsp", "cpu"])
def test_codes_where_reals_are_meant_are_told_in_python(runtime: Runtime) -> None:
    loaded = hexsim.load(coded_input())
    warned = f"image.*{OUTSIDE}.*the codes themselves.*0.0078125 \\* \\(code - 128\\)"
    calls: list[Callable[[Array], object]] = [
        lambda x: hexsim.simulate(loaded, runtime=runtime, inputs=x, chip="sd835"),
        lambda x: list(hexsim.run(loaded, [x, x], runtime=runtime, chip="sd835")),
        lambda x: list(hexsim.run(loaded, iter([x]), runtime=runtime, chip="sd835")),
        lambda x: hexsim.quantize(loaded, [x]),
        lambda x: Session(loaded, SnpeRuntime(runtime), chip="sd835").execute({"image": stored(x)}),
        lambda x: hexsim.benchmark(loaded, runtime=runtime, inputs=[x, x], chips="sd835"),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match=warned) as caught:
            call(CODES_AS_REALS)
        (warning,) = caught
        assert warning.filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(REALS)
            call(CODES)


LINES = (
    "quantize m.onnx --input-list {} -o q.dlc",
    "run --chip sd835 m.onnx --runtime dsp --input-list {} -o out",
    "run --chip sd835 m.onnx --runtime cpu --input-list {} -o out",
    "run --chip sd835 reals.dlc --runtime dsp --input-list {} -o out",
    "validate --chip sd835 m.onnx --runtime dsp --input-list {}",
    "validate --chip sd835 reals.dlc --runtime dsp --input-list {}",
    "bench --chip sd835 m.onnx --runtime dsp --input-list {}",
    "snpe-net-run --container m.onnx --use_dsp --input_list {}",
    "snpe-dlc-quantize --input_dlc m.dlc --input_list {}",
)


@pytest.mark.parametrize("line", LINES)
def test_codes_where_reals_are_meant_are_told_by_commands(
    line: str, command: Command, tool: Command, tmp_path: Path
) -> None:
    loaded = hexsim.load(coded_input())
    onnx.save(coded_input(), tmp_path / "m.onnx")
    hexsim.save(loaded, tmp_path / "m.dlc")
    hexsim.save(hexsim.quantize(loaded, [REALS]), tmp_path / "reals.dlc")
    for name, array in (("codes", CODES_AS_REALS), ("reals", REALS)):
        stored(array).tofile(tmp_path / f"{name}.raw")
        (tmp_path / f"{name}.txt").write_text(f"{name}.raw\n" * 2)
    run = tool if line.startswith("snpe") else command
    codes, reals = run(line.format("codes.txt")), run(line.format("reals.txt"))
    assert codes.code == reals.code == 0, codes.err
    assert codes.err.count("input 'image': 99.") == 1, codes.err
    assert OUTSIDE in codes.err
    assert "lie outside" not in reals.err


def test_the_reverse_is_told_too() -> None:
    """Real numbers where codes are meant that stand for themselves, and within a few of them."""
    model = coded_input()
    zero, scale = np.uint8(0), np.float32(1)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.asarray(scale), "s"))
    model.graph.initializer[1].CopyFrom(numpy_helper.from_array(np.asarray(zero), "z"))
    loaded = hexsim.load(model)
    warned = r"2\d.\d% of the values lie outside 0 .. 255.*give the codes \(uint8\) themselves"
    with pytest.warns(UserWarning, match=warned):
        hexsim.quantize(loaded, [REALS])
    with pytest.warns(UserWarning, match="from 0 to 0.99.*a few codes of 0 .. 255"):
        hexsim.quantize(loaded, [np.abs(REALS).clip(0, 0.995)])


def test_inputs_beyond_a_calibrated_range_are_told() -> None:
    model, (x, *_) = float_conv()
    quantized = hexsim.quantize(hexsim.load(model), [x / 100])
    with pytest.warns(UserWarning, match="input 'x'.*or quantise it on such inputs"):
        next(hexsim.run(quantized, [x], chip="sd835"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        next(hexsim.run(quantized, [x], runtime="cpu", chip="sd835"))
        next(hexsim.run(quantized, [x / 90], chip="sd835"))
