"""Networks of others are read, and what they are made of is recognised."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import hexsim
from hexsim.onnx_io.float_engine import FloatEngine

DIMS: Mapping[str, Mapping[str, tuple[int, ...]]] = {
    "ppocr_v2_rec_crnn": {"x": (1, 3, 32, 320)},
    "ppocr_v3_det": {"x": (1, 3, 320, 320)},
    "openseeface_mnv3_detection_opt": {"input": (1, 3, 224, 224)},
    "silero_vad": {"input": (1, 576), "state": (2, 1, 128)},
}
NETWORKS = (
    "basic_pitch",
    "deeplab_dm05_nchw",
    "eeg_spindle",
    "fastestdet",
    "gtcrn_simple",
    "mediapipe_face_mesh",
    "openseeface_mnv3_detection_opt",
    "ppocr_v2_rec_crnn",
    "ppocr_v3_det",
    "silero_vad",
    "squeezenet_fp16",
    "tfl_movenet_single_pose_lightning_ptq",
    "ultraface_rfb320",
)
TOLERANCE = {
    "squeezenet_fp16": 1e-3,  # computed in halves there
    "ppocr_v3_det": 5e-3,  # of noise it makes next to nothing, whose range is small
    "tfl_movenet_single_pose_lightning_ptq": 0.5,  # places of maxima among codes
}
RECOGNISED = {
    "eeg_spindle": {"gelu": 24},
    "fastestdet": {"channel_shuffle": 13},
    "openseeface_mnv3_detection_opt": {"hard_swish": 20, "hard_sigmoid": 8},
    "ppocr_v2_rec_crnn": {"hard_swish": 18},
}
"""How many layers of a kind are found at least."""


@pytest.fixture
def file(real_data: Path, request: pytest.FixtureRequest) -> Path:
    path = real_data / "networks" / f"{request.param}.onnx"
    if not path.is_file():
        pytest.skip(f"no {path.name} among the real data")
    return path


@pytest.mark.parametrize("file", NETWORKS, indirect=True)
def test_floats_are_those_of_onnxruntime(file: Path) -> None:
    network = hexsim.load(file, input_dims=DIMS.get(file.stem)).network
    network.check()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        str(file),
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=["Pad_Fusion"],  # wrong before a MaxPool in 1.20 to 1.23
    )
    rng = np.random.default_rng(0)
    feed, stored = {}, {}
    for value in session.get_inputs():
        tensor = network.tensors[value.name]
        given: np.ndarray = rng.random(tensor.source_shape).astype(np.float32)
        if value.type == "tensor(int64)":
            given = np.array(16000)  # hertz
        elif value.type == "tensor(uint8)":
            given = (given * 255).astype(np.uint8)
        stored[value.name] = tensor.from_source(given)
        feed[value.name] = given.astype(np.float16) if "16" in value.type else given
    names = [value.name for value in session.get_outputs()]
    results = FloatEngine(network).run(stored)  # type: ignore[arg-type]
    for name, want in zip(names, session.run(names, feed), strict=True):
        got = network.tensors[name].to_source(results[name])
        assert got.shape == want.shape
        reach = float(np.ptp(want)) or 1.0
        assert np.abs(got - want.astype(float)).max() <= TOLERANCE.get(file.stem, 1e-5) * reach


@pytest.mark.parametrize("file", RECOGNISED, indirect=True)
def test_patterns_are_recognised(file: Path) -> None:
    report = hexsim.import_report(file, input_dims=DIMS.get(file.stem))
    for kind, count in RECOGNISED[file.stem].items():
        assert sum(pattern.rule.endswith(f": {kind}") for pattern in report.recognised) >= count


@pytest.mark.parametrize(
    "file", ["fastestdet", "openseeface_mnv3_detection_opt", "ultraface_rfb320"], indirect=True
)
def test_the_dsp_takes_all_of_it(file: Path) -> None:
    model = hexsim.load(file, input_dims=DIMS.get(file.stem))
    (name,) = model.network.inputs
    noise = np.random.default_rng(0).random(model.network.tensors[name].source_shape, np.float32)
    quantized = hexsim.quantize(model, [noise])
    timing = hexsim.simulate(quantized, "sd855", "dsp", stack="qnn-2.45", cpu_fallback=False)
    assert timing.total_us > 0


@pytest.mark.parametrize("file", ["silero_vad"], indirect=True)
def test_a_branch_is_taken_for_the_shapes(file: Path) -> None:
    report = hexsim.import_report(file, input_dims=DIMS["silero_vad"])
    assert "then_branch" in report.notes[0]
    model = hexsim.load(file, input_dims=DIMS["silero_vad"], input_values={"sr": 16000})
    assert model.network.inputs == ("input", "state")
