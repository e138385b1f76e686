"""`hexsim quantize` calibrates on raw files and keeps what the quantiser made, exactly."""

import io
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hexsim import dlc
from hexsim.api import model as api
from hexsim.dlc import Metadata
from hexsim.graph.ir import Constant
from hexsim.quantization.encodings import AxisEncoding
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.quantizer import quantize
from hexsim.reports.quantizer_log import optimization_log
from tests.coded_networks import coded_network
from tests.digits.networks import load
from tests.digits.scores import calibration as digits
from tests.dlc.made import assert_same, small_network

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def calibration(tmp_path: Path) -> list[np.ndarray]:
    """m.dlc, and list.txt with three inputs for it."""
    network = small_network()
    dlc.write(tmp_path / "m.dlc", Model(network), Metadata(converter_command="convert"))
    rng = np.random.default_rng(3)
    arrays = [rng.normal(0, n, (1, 8, 8, 3)).astype(np.float32) for n in (1, 2, 3)]
    for index, array in enumerate(arrays):
        array.tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("0.raw\n\n1.raw\nin:=2.raw\n")
    return arrays


@pytest.mark.parametrize("bits", [8, 32])
def test_the_file_holds_what_the_quantizer_makes(
    command: Command, calibration: list[np.ndarray], bits: int
) -> None:
    code, out, _ = command(f"quantize m.dlc --input-list list.txt --bias-bitwidth {bits} -o q.dlc")
    assert code == 0
    size = 3 * 3 * 3 * 4 + 3 * 3 * 4 * 6 + 24 * 10  # there are no biases
    summary = (
        rf"wrote q.dlc: 4 layers, {size} B of weights, calibrated on 3 inputs; took \S+ s here\n"
        "all these inputs calibrated, .*\n"
    )
    assert re.fullmatch(summary, out), out
    read = dlc.read("q.dlc")
    options = QuantizationOptions(bias_bits=bits)  # type: ignore[arg-type]
    expected = quantize(small_network(), ({"in": array} for array in calibration), options)
    assert_same(expected, read.model)
    assert read.metadata.converter_command == "convert"
    assert read.metadata.quantizer_command == (
        f"hexsim quantize act_bitwidth=8 bias_bitwidth={bits} input_dlc=m.dlc input_list=list.txt "
        "weights_bitwidth=8"
    )


def test_noise_proves_nothing_of_given_ranges(command: Command, tmp_path: Path) -> None:
    """A tensor with a range of the file uses few codes on noise, which is no finding."""
    net = coded_network(4)
    net.files(tmp_path)
    code, _, err = command("quantize qdq.onnx --seeded-inputs -o q.dlc")
    assert code == 0
    assert " codes: calibration saw" not in err
    assert not dlc.read("q.dlc").model.evidence.unused_ranges


@pytest.mark.usefixtures("calibration")
def test_default_name_and_remarks(command: Command, tmp_path: Path) -> None:
    """The log of each encoding is that of snpe-dlc-quantize alone."""
    code, _, err = command("quantize m.dlc --input-list list.txt")
    assert code == 0
    assert dlc.read(tmp_path / "m_quantized.dlc").model.quantized
    assert err == "minimum range of an encoding: 0.01\n"


@pytest.mark.usefixtures("calibration")
def test_the_file_answers_as_the_network_in_memory(
    command: Command, calibration: list[np.ndarray]
) -> None:
    command("quantize m.dlc --input-list list.txt -o q.dlc")
    memory = quantize(small_network(), ({"in": array} for array in calibration))
    source = np.ascontiguousarray(calibration[0].transpose(0, 3, 1, 2))
    for runtime in ("dsp", "fxp_cpu"):
        expected, got = (
            api.simulate(model, runtime=runtime, inputs=source, chip="sd835").outputs  # type: ignore[arg-type]
            for model in (memory, "q.dlc")
        )
        assert expected is not None
        assert got is not None
        for name, array in expected.items():
            assert np.ptp(array) > 0
            np.testing.assert_array_equal(got[name], array)


@pytest.mark.usefixtures("calibration")
def test_a_person_sees_progress(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert command("quantize m.dlc --input-list list.txt -o q.dlc")[0] == 0
    assert "calibrating" in terminal.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "names no input"),
        ("\n \n", "names no input"),
        ("0.raw\nnone.raw\n", "line 2: cannot read 'none.raw': No such file"),
        ("short.raw\n", "number of bytes (8) for non-NV21 input 'in' for batch 1"),
        ("0.raw\n\nnan.raw\n", "line 3: 'nan.raw' for input 'in' holds NaN"),
        ("inf.raw\n", "line 1: 'inf.raw' for input 'in' holds infinite"),
        ("0.raw 1.raw\n", "line 1: 2 files do not match the inputs of the network"),
    ],
)
@pytest.mark.usefixtures("calibration")
def test_mistakes_in_the_list(
    refused: Callable[[str], str], tmp_path: Path, content: str, sentence: str
) -> None:
    np.zeros(2, np.float32).tofile(tmp_path / "short.raw")
    for name in ("nan", "inf"):
        bad = np.zeros((8, 8, 3), np.float32)
        bad[3, 3] = float(name)
        bad.tofile(tmp_path / f"{name}.raw")
    (tmp_path / "bad.txt").write_text(content)
    assert sentence in refused("quantize m.dlc --input-list bad.txt -o q.dlc")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("quantize m.dlc --input-list none.txt", "cannot read input list 'none.txt'"),
        ("quantize m.dlc --input-list m.dlc", "is no text"),
        ("quantize none.dlc --input-list list.txt", "no such file: 'none.dlc'"),
        ("quantize q.dlc --input-list list.txt", "is quantised already"),
        ("quantize nan.dlc --input-list list.txt", "holds NaN"),
        (
            "quantize m.dlc --input-list list.txt --bias-bitwidth 16",
            "biases can have 8 or 32 bits, not 16",
        ),
        ("quantize m.dlc --input-list list.txt -o m.dlc", "would overwrite"),
        ("quantize m.dlc --input-list list.txt -o no/q.dlc", "cannot write 'no/q.dlc'"),
    ],
)
def test_mistakes(
    refused: Callable[[str], str],
    tmp_path: Path,
    calibration: list[np.ndarray],
    line: str,
    sentence: str,
) -> None:
    quantized = quantize(small_network(), [{"in": calibration[0]}])
    dlc.write(tmp_path / "q.dlc", quantized)
    if "nan.dlc" in line:
        _write_model_with_nan(tmp_path / "nan.dlc")
    assert sentence in refused(line)


def _write_model_with_nan(path: Path) -> None:
    """A file no honest writer makes: its NaN is sealed."""
    network = small_network()
    name = network.layers[0].parameters[0]
    shape = network.shape(name)
    values = np.full(shape, np.nan, np.float32)
    disguised = Constant(name, shape, values.view(np.int32), "int32")
    dlc.write(path, Model(network.with_layers(network.layers, constants=[disguised])))
    raw = path.read_bytes()
    archive = dlc.archive.open_archive(path)
    model = archive.model.replace(b'"int32"', b'"float32"')
    with path.open("w+b") as file, dlc.archive.create_archive(file) as writer:
        with writer.params(archive.params_end - archive.params_start) as stream:
            stream.write(raw[archive.params_start : archive.params_end])
        writer.add("model", model)
        writer.add("dlc.metadata", archive.metadata)


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        ("--use-enhanced-quantizer", {"enhanced": "both"}),
        ("--use-enhanced-quantizer weights", {"enhanced": "weights"}),
        (
            "--use-adjusted-weights-quantizer --use-enhanced-quantizer activations",
            {"enhanced": "activations", "adjusted_weights": True},
        ),
        (
            "--use-symmetric-quantize-weights --weights-bitwidth 4",
            {"symmetric_weights": True, "weight_bits": 4},
        ),
        ("--axis-quant", {"axis_weights": True}),
        ("--act-bitwidth 16", {"activation_bits": 16}),
        ("--bitwidth 16", {"activation_bits": 16, "weight_bits": 16, "bias_bits": 32}),
        ("--axis-quant --weights-bitwidth 4", {"axis_weights": True, "weight_bits": 4}),
        (
            "--weights-bitwidth 4 --pack-4-bit-weights",
            {"weight_bits": 4, "pack_4_bit_weights": True},
        ),
    ],
)
def test_modes(
    command: Command, calibration: list[np.ndarray], words: str, choices: dict[str, object]
) -> None:
    code, _, _ = command(f"quantize {words} m.dlc --input-list list.txt -o q.dlc")
    assert code == 0
    expected = quantize(
        small_network(),
        ({"in": array} for array in calibration),
        QuantizationOptions(**choices),  # type: ignore[arg-type]
    )
    read = dlc.read("q.dlc").model
    assert_same(expected, read)
    assert command("info q.dlc --layout snpe").out.count("weight encoding: ") == 3
    source = np.ascontiguousarray(calibration[0].transpose(0, 3, 1, 2))
    wide = any(choices.get(kind) == 16 for kind in ("activation_bits", "weight_bits"))
    for runtime in ("fxp_cpu",) if wide else ("dsp", "fxp_cpu"):
        outputs = api.simulate("q.dlc", runtime=runtime, inputs=source, chip="sd835").outputs  # type: ignore[arg-type]
        assert outputs is not None
        assert all(np.ptp(array) > 0 for array in outputs.values())


@pytest.mark.usefixtures("calibration")
def test_modes_that_exclude_each_other(refused: Callable[[str], str]) -> None:
    line = "quantize m.dlc --input-list list.txt -o q.dlc"
    assert "4, 8 or 16 bits, not 6" in refused(f"{line} --weights-bitwidth 6")
    assert "give one or the other" in refused(f"{line} --weights-bitwidth 8 --bitwidth 16")
    assert "only 4-bit weights can be packed" in refused(f"{line} --pack-4-bit-weights")
    words = "--use-adjusted-weights-quantizer --use-enhanced-quantizer"
    assert "by the enhanced or by the adjusted mode" in refused(f"{line} {words}")


@pytest.mark.usefixtures("calibration")
def test_files_of_16_bits_run_where_the_chip_can(
    command: Command, refused: Callable[[str], str]
) -> None:
    assert command("quantize m.dlc --input-list list.txt --act-bitwidth 16 -o q.dlc")[0] == 0
    assert command("bench --model q.dlc --chip sd865 --stack snpe-1.63 --runtime dsp")[0] == 0
    assert command("validate q.dlc --chip sd865 --stack snpe-1.63 --input-list list.txt")[0] == 0
    sentence = "dsp of chip sd835 computes with 8 bits"
    assert sentence in refused("bench --model q.dlc --chip sd835 --runtime dsp")
    assert sentence in refused("validate q.dlc --chip sd835 --input-list list.txt")
    assert "bitwidth 16" in command("info q.dlc --layout snpe")[1]


@pytest.mark.parametrize(
    "words", ["--optimizations cle,bc", "--optimizations cle --optimizations bc"]
)
def test_optimizations(command: Command, tmp_path: Path, words: str) -> None:
    network = load("relu6", 0)
    dlc.write(tmp_path / "d.dlc", Model(network), Metadata())
    names = []
    for index, feed in enumerate(digits()[:4]):
        names.append(f"{index}.raw")
        feed["x"].tofile(tmp_path / names[-1])
    (tmp_path / "list.txt").write_text("\n".join(names))
    code, _, err = command(f"quantize d.dlc --input-list list.txt {words} -o q.dlc")
    assert code == 0
    read = dlc.read("q.dlc")
    assert "optimizations=cle,bc" in read.metadata.quantizer_command
    expected = quantize_optimized(network, lambda: digits()[:4], optimizations=["cle", "bc"])
    assert_same(expected.model, read.model)
    said = optimization_log(expected)
    log = [text if level == "INFO" else f"{level.lower()}: {text}" for level, text in said]
    assert len(log) > 3
    assert err.splitlines()[: len(log)] == log
    code, out, _ = command("validate --chip sd835 q.dlc --float d.dlc --input-list list.txt")
    assert code == 0
    assert "float reference: 'd.dlc', equalised as the quantised file was" in out


@pytest.mark.usefixtures("calibration")
def test_optimizations_that_are_refused(refused: Callable[[str], str]) -> None:
    line = "quantize m.dlc --input-list list.txt -o q.dlc --optimizations"
    assert "never run without cross-layer equalization" in refused(f"{line} bc")
    assert "unknown optimization 'cel'" in refused(f"{line} cel")


@pytest.mark.usefixtures("calibration")
def test_neither_file_is_left_if_the_other_cannot_be_written(
    refused: Callable[[str], str], tmp_path: Path
) -> None:
    """A name of 300 letters is none; one of 250 is as good as any."""
    line = "quantize m.dlc --input-list list.txt"
    long = "r" * 300
    assert "File name too long" in refused(f"{line} -o q.dlc --encodings-report {long}")
    assert "File name too long" in refused(f"{line} -o {long} --encodings-report r.json")
    os.mkfifo(tmp_path / "pipe")
    assert "no ordinary file" in refused(f"{line} -o pipe")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.usefixtures("calibration")
@pytest.mark.parametrize("options", ["", "--axis-quant", "--use-enhanced-quantizer"])
@pytest.mark.parametrize("scale", [0.0, 1e-40])
def test_nothing_but_zeros_is_quantized(
    command: Command, tmp_path: Path, options: str, scale: float
) -> None:
    """Zeros, and weights too small for a normal float, get finite encodings."""
    made = small_network()
    constants = [
        Constant(name, constant.shape, constant.finite() * np.float32(scale))
        for name, constant in made.constants.items()
    ]
    dlc.write(tmp_path / "z.dlc", Model(made.with_layers(made.layers, constants=constants)))
    np.zeros((1, 8, 8, 3), np.float32).tofile(tmp_path / "zero.raw")
    (tmp_path / "zeros.txt").write_text("zero.raw\n")
    code, _, err = command(f"quantize z.dlc --input-list zeros.txt -o q.dlc {options}")
    assert code == 0, err
    model = dlc.read(tmp_path / "q.dlc").model
    assert model.quantized
    for activation in (*model.activations.values(), *model.parameters.values()):
        channels = activation.channels if isinstance(activation, AxisEncoding) else (activation,)
        assert all(np.isfinite(c.delta) and c.delta > 0 for c in channels)
