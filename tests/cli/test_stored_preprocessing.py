"""How pictures become inputs is stored in the file, and followed by the commands that read it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from PIL import Image

import hexsim
from hexsim import dlc
from hexsim.graph.network_ends import MeanImage, PictureSteps
from hexsim.passes.network_inputs import set_pictures
from hexsim.quantization.model import Model

Command = Callable[[str], tuple[int, str, str]]
STEPS = PictureSteps((128.0,), (64.0, 65.0, 66.0), "bgr")
WORDS = "--mean 128 --std 64,65,66 --channel-order bgr"
REPORTED = (
    "how the file says pictures become inputs: mean 128, std 64,65,66, channel_order bgr, fit crop"
)


@pytest.fixture
def photos(command: Command, tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> Command:
    """The commands, in a folder with m.onnx, a convolution, and two pictures in `photos`."""
    weights = {"w": np.random.default_rng(0).normal(0, 1, (8, 3, 1, 1))}
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv")
    onnx.save(onnx_model([node], {"x": (1, 3, 6, 6)}, ["y"], weights), tmp_path / "m.onnx")
    (tmp_path / "photos").mkdir()
    for n in range(2):
        pixels = np.random.default_rng(n).integers(0, 256, (8, 9, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{n}.png")
    return command


def stored(file: str) -> PictureSteps | None:
    return hexsim.load(file).network.input_format("x").pictures


def test_what_convert_stores_is_as_good_as_options(photos: Command) -> None:
    assert photos(f"convert m.onnx {WORDS} -o m.dlc")[0] == 0
    assert photos("convert m.onnx -o plain.dlc")[0] == 0
    assert (stored("m.dlc"), stored("plain.dlc")) == (STEPS, None)
    code, _, remarks = photos("quantize m.dlc --images photos -o q.dlc")
    assert (code, REPORTED in remarks) == (0, True)
    assert photos(f"quantize plain.dlc --images photos {WORDS} -o options.dlc")[0] == 0
    ours, theirs = hexsim.load("q.dlc"), hexsim.load("options.dlc")
    assert stored("q.dlc") == stored("options.dlc") == STEPS
    assert ours.activations == theirs.activations
    assert (
        "pictures: mean 128, std 64,65,66, channel_order bgr, fit crop" in photos("info q.dlc")[1]
    )
    model = hexsim.load("q.dlc")
    bare = replace(model, network=set_pictures(model.network, PictureSteps()))
    hexsim.save(bare, "bare.dlc")
    for line in (
        "run --chip sd835 {} --images photos -o out_{}",
        "validate --chip sd835 {} --images photos --csv {}.csv",
    ):
        assert photos(line.format("q.dlc", "file"))[0] == 0
        assert photos(f"{line.format('bare.dlc', 'plain')} {WORDS}")[0] == 0
    for n in range(2):
        results = [Path(f"out_{name}/Result_{n}/y.raw") for name in ("file", "plain")]
        assert results[0].read_bytes() == results[1].read_bytes()
    assert Path("file.csv").read_bytes() == Path("plain.csv").read_bytes()
    for number, file in enumerate(("q.dlc", "plain.dlc")):
        words = WORDS if file == "plain.dlc" else ""
        assert photos(f"prepare photos --model {file} {words} -o raw{number}")[0] == 0
    assert Path("raw0/0.raw").read_bytes() == Path("raw1/0.raw").read_bytes()


def test_the_file_says_how_when_its_float_network_is_given(photos: Command) -> None:
    """The pictures of the ONNX file have no steps; those of the quantised file are followed."""
    out = photos(f"quantize m.onnx --images photos {WORDS} --part calibrate -o q.dlc")[1]
    (score,) = (line for line in out.splitlines() if line.startswith("SQNR of the outputs"))
    line = "validate q.dlc --float m.onnx --chip sd855 --images photos --part judge"
    code, judged, remarks = photos(line)
    assert (code, REPORTED in remarks) == (0, True)
    assert score.partition(" on ")[0] in judged.splitlines()
    assert judged == photos(f"{line} {WORDS}")[1]


def test_an_option_replaces_what_is_stored_and_says_so(photos: Command) -> None:
    assert photos(f"convert m.onnx {WORDS} -o m.dlc")[0] == 0
    code, _, remarks = photos("quantize m.dlc --images photos --mean 0 --std 1 -o q.dlc")
    assert code == 0
    assert "warning: the options say otherwise, and are followed: mean 0, std 1, chann" in remarks
    assert stored("q.dlc") == PictureSteps(channel_order="bgr")
    _, _, remarks = photos("run --chip sd835 m.dlc --images photos --std 64,65,66 --runtime cpu")
    assert REPORTED in remarks
    assert "otherwise" not in remarks


@pytest.mark.parametrize(
    ("kind", "stored_as"), [("f8", "float64"), ("f4", "float32"), ("u1", "float32")]
)
def test_a_mean_image_is_stored_bit_by_bit(photos: Command, kind: str, stored_as: str) -> None:
    """Later commands use it without the .npy file, and compute what they do with the option."""
    mean = (np.random.default_rng(5).random((3, 8, 7)) * 255).astype(kind)
    np.save("mean.npy", mean)
    option = "--mean-file mean.npy --channel-order bgr"
    assert photos(f"convert m.onnx {option} -o m.dlc")[0] == 0
    assert photos("convert m.onnx -o plain.dlc")[0] == 0
    assert photos(f"quantize plain.dlc --images photos {option} -o options.dlc")[0] == 0
    assert photos(f"run --chip sd835 options.dlc --images photos {option} -o out_options")[0] == 0
    Path("mean.npy").unlink()
    assert photos("quantize m.dlc --images photos -o q.dlc")[0] == 0
    steps = stored("q.dlc")
    assert steps == stored("options.dlc") == stored("m.dlc")
    assert steps is not None
    assert steps.mean_image is not None
    assert steps.mean_image.dtype == stored_as
    np.testing.assert_array_equal(steps.mean_image.values(), mean.astype(np.float64))
    code, _, remarks = photos("run --chip sd835 q.dlc --images photos -o out_q")
    assert (code, f"inputs: mean image {steps.mean_image}" in remarks) == (0, True)
    for n in range(2):
        results = [Path(f"out_{name}/Result_{n}/y.raw").read_bytes() for name in ("q", "options")]
        assert results[0] == results[1]
    assert "pictures: mean image 3x8x7 (SHA-256 " in photos("info q.dlc")[1]
    hexsim.save(hexsim.load("m.dlc"), "again.dlc")
    hexsim.save(hexsim.load("again.dlc"), "twice.dlc")
    assert Path("again.dlc").read_bytes() == Path("twice.dlc").read_bytes()
    assert stored("again.dlc") == steps


def test_an_option_replaces_a_mean_image(photos: Command) -> None:
    for n in range(2):
        np.save(f"{n}.npy", np.full((3, 6, 6), n + 1.0))
        assert photos(f"convert m.onnx --mean-file {n}.npy -o {n}.dlc")[0] == 0
    assert "mean image 3x6x6 (SHA-256" in photos("diff 0.dlc 1.dlc")[1]
    assert photos("quantize 0.dlc --images photos --mean-file 1.npy -o q.dlc")[0] == 0
    assert stored("q.dlc") == stored("1.dlc")
    assert photos("quantize 0.dlc --images photos --mean 3 -o q.dlc")[0] == 0
    assert stored("q.dlc") == PictureSteps(mean=(3.0,))


def test_files_and_options_that_are_impossible(photos: Command) -> None:
    assert "--std has 2 values; input 'x' has 3 channels" in photos("convert m.onnx --std 1,2")[2]
    assert "cannot read mean image 'none.npy'" in photos("convert m.onnx --mean-file none.npy")[2]
    for shape, fault in (((3, 5, 6), "has shape 3x5x6; expected 3 x 6 x 6"), ((6, 6), "shape 6x6")):
        np.save("small.npy", np.ones(shape))
        assert fault in photos("convert m.onnx --mean-file small.npy")[2]
    assert not Path("m.dlc").exists()
    model = hexsim.load("m.onnx")
    images = (MeanImage((1, 1, 2), "float32"), MeanImage.of(np.full((3, 6, 6), np.nan)))
    steps_list = [PictureSteps(std=(0.0,)), PictureSteps(mean=()), PictureSteps(resize=0)]
    for steps in (*steps_list, *(PictureSteps(mean_image=image) for image in images)):
        with pytest.raises(hexsim.HexsimError, match="input 'x' has"):
            dlc.write("bad.dlc", Model(set_pictures(model.network, steps)))
