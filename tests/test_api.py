"""The three calls of the Python API, on the file's own axis order."""

import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import hexsim
from hexsim import models
from hexsim.errors import HexsimError
from hexsim.inputs.seeded import seeded_calibration
from hexsim.passes.network_inputs import set_input_formats
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.runtimes import Runtime
from tests.digits.data import digits
from tests.digits.networks import load
from tests.digits.scores import calibration
from tests.dlc.made import small_network, with_encodings


@pytest.fixture(scope="module")
def squeezenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "squeezenet.onnx"
    models.export("squeezenet1_1", path)
    return path


def test_public_names_are_there() -> None:
    for name in hexsim.__all__:
        assert getattr(hexsim, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hexsim.nothing


def test_completion_in_a_notebook_offers_the_public_names_and_no_others() -> None:
    assert dir(hexsim) == sorted(hexsim.__all__)


def test_load_quantize_simulate(squeezenet: Path) -> None:
    rng = np.random.default_rng(1)
    inputs = [rng.normal(0, 1, (1, 3, 227, 227)).astype(np.float32) for _ in range(2)]
    net = hexsim.load(squeezenet)
    result = hexsim.simulate(
        hexsim.quantize(net, inputs), chip="sd835", runtime="dsp", inputs=inputs[0]
    )
    session = onnxruntime.InferenceSession(squeezenet, providers=["CPUExecutionProvider"])
    (output,) = session.get_outputs()
    expected = session.run(None, {net.network.inputs[0]: inputs[0]})[0]
    assert result.outputs is not None
    got = result.outputs[output.name]
    assert got.shape == expected.shape
    assert got.dtype == np.float32
    assert np.argmax(got) == np.argmax(expected)
    assert result.total_us == pytest.approx(
        sum(part.us for part in (*result.layers, *result.timing.overheads))
    )
    assert result.timeline.spans


def test_optimizations_go_through_the_inputs_as_often_as_they_need() -> None:
    network = load("relu", 0)
    images = (image[None] for image in digits().train_images[:8])  # can be read once
    model = hexsim.quantize(Model(network), images, optimizations=("cle", "bc"))
    again = quantize_optimized(network, lambda: calibration()[:8], None, ("cle", "bc")).model
    assert model.equalized
    assert model.parameters == again.parameters
    assert model.activations == again.activations


def test_many_inputs_are_answered_as_one_by_one_and_no_time_is_simulated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = load("relu", 0)
    model = hexsim.quantize(Model(network), [image[None] for image in digits().train_images[:4]])
    images = [image[None] for image in digits().test_images[:3]]
    expected = [hexsim.simulate(model, inputs=image, chip="sd835").outputs for image in images]

    def refuse(*arguments: object, **circumstances: object) -> None:
        raise AssertionError("time was simulated")

    monkeypatch.setattr("hexsim.deployment.platform.Platform.simulate", refuse)
    drawn: list[int] = []
    answers = hexsim.run(
        model, (drawn.append(n) or image for n, image in enumerate(images)), chip="sd835"
    )
    assert drawn == [], "an answer is made when it is asked for"
    for reference, answer in zip(expected, answers, strict=True):
        assert reference is not None
        assert answer.keys() == reference.keys()
        for name, array in answer.items():
            np.testing.assert_array_equal(array, reference[name])
    inner = network.layers[0].outputs[0]
    (outputs,) = hexsim.run(model, images[:1], output_tensors=[inner], chip="sd835")
    assert list(outputs) == [inner]
    with pytest.raises(hexsim.HexsimError, match="unknown tensor 'none'"):
        hexsim.run(model, images, output_tensors=["none"], chip="sd835")


def test_what_is_saved_is_loaded_again(tmp_path: Path) -> None:
    network = load("relu", 0)
    model = hexsim.quantize(Model(network), [image[None] for image in digits().train_images[:4]])
    for name, saved in (("f.dlc", Model(network)), ("q.dlc", model)):
        hexsim.save(saved, tmp_path / name, model_version="7")
        again = hexsim.load(tmp_path / name)
        assert again.activations == saved.activations
        assert again.network.layers == saved.network.layers
    with pytest.raises(hexsim.HexsimError, match="cannot write"):
        hexsim.save(model, tmp_path / "no" / "q.dlc")


def test_buffers_of_codes_take_less_time_and_change_no_value() -> None:
    model = hexsim.load("squeezenet1_1")
    floats = hexsim.simulate(model, buffer="float", chip="sd835").total_us
    codes = hexsim.simulate(model, buffer="tf8", chip="sd835").total_us
    assert codes < floats == hexsim.simulate(model, chip="sd835").total_us
    with pytest.raises(hexsim.HexsimError, match=r"unknown buffer type of snpe-1\.23 'tf16'"):
        hexsim.simulate(model, buffer="tf16", chip="sd835")  # type: ignore[typeddict-item]


def test_timing_only_touches_no_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object) -> None:
        raise AssertionError("a weight was read")

    net = hexsim.load("alexnet")
    big = {name: c for name, c in net.network.constants.items() if c.elements > 10_000}
    assert len(big) >= 8
    monkeypatch.setattr("hexsim.graph.ir.Constant.value", refuse)
    assert hexsim.simulate(net, "sd855", "dsp").total_us > 0


def test_a_float_network_on_dsp_is_quantized_at_load_on_its_inputs() -> None:
    net = hexsim.load("conv1x1_768to768@1024x1")
    x = np.random.default_rng(0).normal(0, 1, (1, 768, 1024, 1)).astype(np.float32)
    from_float = hexsim.simulate(net, runtime="dsp", inputs=x, chip="sd835")
    quantized = hexsim.simulate(hexsim.quantize(net, [x]), runtime="dsp", inputs=x, chip="sd835")
    assert from_float.outputs is not None
    assert quantized.outputs is not None
    for name, array in from_float.outputs.items():
        np.testing.assert_array_equal(array, quantized.outputs[name])
    assert {part.name for part in from_float.timing.init} >= {"quantize"}
    assert "quantize" not in {part.name for part in quantized.timing.init}


@pytest.mark.parametrize(
    ("chip", "runtime"), [("sd855", "aip"), ("sd855", "fxp_cpu"), ("sd8gen4", "htp")]
)
def test_float_networks_are_quantised_on_their_inputs(chip: str, runtime: Runtime) -> None:
    """As a user would quantise them first; an iterator calibrates with its first input."""
    x, model = np.full((1, 1, 1, 1), 0.5, np.float32), hexsim.load("conv1x1_1to1")
    here = hexsim.simulate(model, chip, runtime, x)
    before = hexsim.simulate(hexsim.quantize(model, [x]), chip, runtime, x)
    (listed,) = hexsim.run(model, [x], chip, runtime)
    (read,) = hexsim.run(model, iter([x]), chip, runtime)
    assert here.precision == "8 bits, calibrated on the inputs that are run"
    assert before.precision == "8 bits as the file has them"
    assert here.outputs == before.outputs == listed == read
    assert here.total_us == before.total_us == hexsim.simulate(model, chip, runtime).total_us


def test_compile_hta() -> None:
    model = with_encodings(small_network())
    assert [len(section.layers) for section in hexsim.compile_hta(model, "sd855").hta] == [4]
    assert [len(s.layers) for s in hexsim.compile_hta(model, "sd865", "0-1,3-4").hta] == [1, 2]
    with pytest.raises(hexsim.HexsimError, match="out of range"):
        hexsim.compile_hta(model, "sd855", "1-9")


def test_background_loads_are_named_and_reported() -> None:
    alone = hexsim.simulate("conv1x1_768to768@1024x1", chip="sd855")
    beside = hexsim.simulate("conv1x1_768to768@1024x1", chip="sd855", background=["audio"])
    assert alone.timing.clients == ()
    assert [client.name for client in beside.timing.clients] == [
        "audio playback",
        "audio voice trigger",
    ]


def test_seeded_inputs_suit_the_type_of_an_input() -> None:
    network = require_float(hexsim.load("conv1x1_3to4@6x8"))
    (name,) = network.inputs
    picture = set_input_formats(network, {}, {name: "nv21"})
    (feed,) = seeded_calibration(picture, 1)
    assert feed[name].shape == (1, 9, 8, 1)
    assert picture.input_format(name).fault(feed[name]) is None
    assert hexsim.quantize(Model(picture)).activations[name].delta == 1


@pytest.mark.parametrize(
    ("circumstances", "sentence"),
    [
        ({"idle_ms": -1}, "idle_ms, the idle time before a call, is a number from 0 to 1e+09, not"),
        ({"idle_ms": math.nan}, "not nan"),
        ({"idle_ms": "3"}, "idle_ms is '3' (str); hexsim.simulate takes float"),
        ({"background": "none"}, "unknown background load 'none'"),
        ({"buffer": 8}, "buffer is 8 (int); hexsim.simulate takes str or None"),
        ({"perf_profile": 8}, "perf_profile is 8 (int); hexsim.simulate takes str or None"),
    ],
)
def test_circumstances_that_cannot_be(circumstances: Any, sentence: str) -> None:
    with pytest.raises(HexsimError, match=re.escape(sentence)):
        hexsim.simulate("conv1x1_1to1", "sd835", **circumstances)


def test_what_is_no_model_is_refused_in_a_sentence() -> None:
    number: Any = 3
    with pytest.raises(HexsimError, match=r"model is 3 \(int\); hexsim.simulate takes Model, str"):
        hexsim.simulate(number, chip="sd835")


def test_one_background_load_needs_no_list() -> None:
    named, listed = (
        hexsim.simulate("conv1x1_1to1", chip="sd855", background=given).timing
        for given in ("audio", ["audio"])
    )
    assert named == listed


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    model = hexsim.load("conv1x1_768to768@1024x1")
    array = np.zeros((1, 768, 1024, 1), np.float32)
    result = hexsim.simulate(model, inputs=array, chip="sd835")
    assert result.outputs is not None
    (output,) = result.outputs
    for mistake, sentence in (
        (
            lambda: hexsim.simulate(model, chp="sd855", chip="sd835"),
            "simulate takes no 'chp'; did you mean chip",
        ),  # type: ignore[call-arg]
        (
            lambda: hexsim.simulate(model, prompt=3, chip="sd835"),  # type: ignore[call-arg]
            r"simulate takes no 'prompt'; hexsim\.simulate_llm would take it",
        ),
        (
            lambda: hexsim.quantize(model, axis_weights=True),  # type: ignore[call-arg]
            r"takes no 'axis_weights'; write options=hexsim\.QuantizationOptions\(axis_weights=",
        ),
        (
            lambda: hexsim.simulate(model, network=model.network),  # type: ignore[call-arg]
            "simulate takes no 'network'; known: anchor",
        ),
        (lambda: hexsim.load("alexnet", dims={}), "load takes no 'dims'; did you mean input_dims"),  # type: ignore[call-arg]
        (lambda: result.timeline.busy_ps("q6 worker 9"), "unknown track 'q6 worker 9'; did you me"),
        (lambda: result.timeline.idle_ps("?"), "unknown track '.'; known: .*q6 worker 0"),
        (lambda: result.outputs and result.outputs["?"], f"unknown output '.'; known: {output}"),
    ):
        with pytest.raises(HexsimError, match=sentence):
            mistake()
    assert result.outputs.get("?") is None


def test_calibration_on_noise_is_reported_at_the_line_that_asks_for_it() -> None:
    model = hexsim.load("conv1x1_768to768@1024x1")
    with pytest.warns(UserWarning, match="got no inputs and calibrates on noise") as warned:
        hexsim.quantize(model)
    assert [warning.filename for warning in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hexsim.quantize(model, [np.zeros((1, 768, 1024, 1), np.float32)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bench", "benchmark"),
        ("report", "profile"),
        ("roofline", "profile"),
        ("tradeoff", "decide_files"),
    ],
)
def test_the_name_of_a_command_says_where_its_answer_is(old: str, new: str) -> None:
    with pytest.raises(
        AttributeError, match=rf"no attribute '{old}'; its answer is in hexsim.{new}\("
    ):
        getattr(hexsim, old)
    assert callable(getattr(hexsim, new))


@pytest.mark.parametrize(
    ("guessed", "hint"),
    [
        ("list_chips", "its answer is in the command 'hexsim chips list'"),
        ("run_model", "did you mean hexsim.run?"),
        ("quantise", "its answer is in hexsim.quantize(...)"),
        ("Simulator", "did you mean Simulation?"),
        ("xyzzy", "known: HexsimError, Model,"),
        ("__wrapped__", None),
    ],
)
def test_a_guessed_name_is_answered_with_what_there_is(guessed: str, hint: str | None) -> None:
    end = "$" if hint is None else f"; {re.escape(hint)}"
    with pytest.raises(AttributeError, match=f"no attribute '{guessed}'{end}"):
        getattr(hexsim, guessed)


def test_a_model_may_be_its_file(tmp_path: Path) -> None:
    """What a file gives is what its loaded model gives, byte for byte, in every function."""
    floats, codes, file = tmp_path / "f.dlc", tmp_path / "q.dlc", tmp_path / "of.dlc"
    hexsim.save(Model(small_network()), floats)
    hexsim.save(with_encodings(small_network()), codes)
    network = small_network()
    n, h, w, c = network.shape(network.inputs[0])
    inputs = [np.random.default_rng(1).normal(size=(n, c, h, w)).astype(np.float32)]
    calls: tuple[tuple[Path, Callable[[Any], Model]], ...] = (
        (floats, lambda model: model),
        (floats, lambda model: hexsim.quantize(model, inputs)),
        (codes, lambda model: hexsim.compile_hta(model, "sd855")),
        (codes, lambda model: hexsim.prepare_graph(model, "sd8gen2")),
    )
    for path, call in calls:
        hexsim.save(call(str(path)), file)
        of_path = file.read_bytes()
        hexsim.save(call(hexsim.load(path)), file)
        assert file.read_bytes() == of_path
        with pytest.raises(HexsimError, match=r"is 7 \(int\); hexsim\..* takes Model, str or Path"):
            hexsim.save(call(7), file)


DIGITS = Path(__file__).parents[1] / "examples" / "digits"


def test_pictures_calibrate_as_the_arrays_that_they_stand_for() -> None:
    pytest.importorskip("PIL")
    folder, network = DIGITS / "calibration", hexsim.load(DIGITS / "digits.onnx")
    pictures = hexsim.pictures(folder, std=255)
    source = pictures.source(network.network)
    arrays = [feed["x"].transpose(0, 3, 1, 2) for feed in source.feeds()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dead channels, as any inputs would have
        doors: dict[str, hexsim.Model] = {
            "arrays": hexsim.quantize(network, arrays),
            "one array": hexsim.quantize(network, np.concatenate(arrays)),
            "pictures": hexsim.quantize(network, pictures),
            "images": hexsim.quantize(network, images=pictures),
        }
        plain = hexsim.quantize(network, folder), hexsim.quantize(network, images=str(folder))
        answers = [
            [answer["y"] for answer in hexsim.run(doors["arrays"], inputs, chip="sd835")]
            for inputs in (arrays, pictures, np.concatenate(arrays), iter(arrays))
        ]
    assert len(pictures) == len(arrays) == len(answers[0])
    assert doors["pictures"].network.input_format("x").pictures == source.pictures
    for name, model in doors.items():
        assert model.activations == doors["arrays"].activations, name
    assert plain[0].activations == plain[1].activations != doors["arrays"].activations
    for other in answers[1:]:
        np.testing.assert_array_equal(np.stack(other), np.stack(answers[0]))


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ({"std": 0}, "is no number, or is zero"),
        ({"std": "a"}, "std is 'a' .str.; hexsim.pictures takes float, Sequence or None"),
        ({"mean": (1, float("nan"))}, "is no number, or is zero"),
        ({"size": 0}, "pictures of no pixels"),
        ({"size": 9, "fit": "stretch"}, "is for a middle that is cut out"),
        ({"mean": 1, "mean_file": "mean.npy"}, "give one"),
    ],
)
def test_impossible_steps_of_pictures(steps: Any, sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        hexsim.pictures(DIGITS / "calibration", **steps)


def test_what_is_not_a_folder_of_pictures(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    with pytest.raises(HexsimError, match="holds no picture"):
        hexsim.pictures(tmp_path)
    with pytest.raises(HexsimError, match="give one of both"):
        hexsim.quantize("mobilenet_v1", [], images=tmp_path)


def test_a_mean_of_numbers_up_to_one_is_remarked() -> None:
    pytest.importorskip("PIL")
    with pytest.warns(UserWarning, match="give both times 255"):
        hexsim.pictures(DIGITS / "calibration", mean=0.485, std=0.229)


def test_a_model_names_its_layers_and_ends() -> None:
    model = hexsim.load(DIGITS / "digits.onnx")
    assert model.inputs == {"x": ((1, 1, 8, 8), "float32")}
    assert model.outputs == {"y": ((1, 10), "float32")}
    assert model.layers[0].name == "conv0"


def test_times_of_layers_are_summed_and_sorted() -> None:
    result = hexsim.simulate("squeezenet1_1", "sd855", "cpu")
    profile = hexsim.profile("squeezenet1_1", "sd855", "cpu")
    assert result.total_ms == result.total_us / 1e3
    by_type = result.by_type()
    assert list(by_type.values()) == sorted(by_type.values(), reverse=True)
    assert sum(by_type.values()) == pytest.approx(sum(layer.us for layer in result.layers))
    slowest = result.slowest(3)
    assert slowest[0].us == max(layer.us for layer in result.layers)
    assert [layer.name for layer in profile.slowest(3)] == [layer.name for layer in slowest]
    assert list(profile.by_type()) == list(by_type)
    with pytest.raises(hexsim.HexsimError, match="count is a number from 0"):
        result.slowest(-1)


def test_a_plot_has_a_bar_for_each_of_the_longest_layers() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = hexsim.simulate("squeezenet1_1", "sd855", "cpu")
    axes = result.plot(5)
    assert [bar.get_width() for bar in axes.patches] == [layer.us for layer in result.slowest(5)]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        layer.name for layer in result.slowest(5)
    ]
