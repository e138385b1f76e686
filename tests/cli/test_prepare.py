"""`hexsim prepare` writes what `--images` would feed, as the tutorials of SNPE lay it out."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hexsim import dlc
from hexsim.dlc import Metadata
from hexsim.passes.network_inputs import set_input_formats
from hexsim.quantization.model import Model
from tests.cli.conftest import Done
from tests.dlc.made import small_network

Command = Callable[[str], Done]

PIXELS = np.random.default_rng(4).integers(0, 256, (8, 8, 3), np.uint8)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """photos/ with 'a cat.png' (PIXELS) and b.png (their negative), and m.dlc, which takes 8x8."""
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.fromarray(PIXELS).save(folder / "a cat.png")
    Image.fromarray(255 - PIXELS).save(folder / "b.png")
    dlc.write(tmp_path / "m.dlc", Model(small_network()), Metadata())
    return folder


def raw(path: str, shape: tuple[int, ...] = (8, 8, 3)) -> np.ndarray:
    return np.fromfile(path, "<f4").reshape(shape)


@pytest.mark.usefixtures("photos")
def test_raw_files_and_their_list(command: Command) -> None:
    """(byte - 1, 2, 3) / 2 of blue, green, red: a byte of 7 in blue is 3."""
    done = command("prepare photos --size 8 --mean 1,2,3 --std 2 --channel-order bgr -o cropped")
    assert (done.code, done.err) == (0, "")
    assert done.out == "2 pictures as float32 of 8 x 8 x 3, listed in cropped/raw_list.txt\n"
    assert Path("cropped/raw_list.txt").read_text() == "cropped/a_cat.raw\ncropped/b.raw\n"
    expected = (PIXELS[..., ::-1] - np.array([1.0, 2.0, 3.0])) / 2
    np.testing.assert_array_equal(raw("cropped/a_cat.raw"), expected.astype(np.float32))


@pytest.mark.usefixtures("photos")
def test_channels_may_come_first_and_be_one(command: Command) -> None:
    assert command("prepare photos --size 8 --layout nchw -o first").code == 0
    np.testing.assert_array_equal(raw("first/b.raw", (3, 8, 8)), 255 - PIXELS.transpose(2, 0, 1))
    done = command("prepare photos --size 4,6 --grey -o grey")
    assert "float32 of 4 x 6 x 1" in done.out
    assert raw("grey/b.raw", (4, 6, 1)).max() <= 255


@pytest.mark.usefixtures("photos")
def test_a_network_answers_to_the_files_as_to_the_pictures(
    command: Command, tmp_path: Path
) -> None:
    how = "--mean 127.5 --std 50 --channel-order bgr"
    assert command(f"prepare photos --model m.dlc {how}").code == 0
    command("quantize m.dlc --input-list prepared/raw_list.txt -o listed.dlc")
    command(f"quantize m.dlc --images photos {how} -o pictured.dlc")
    listed, pictured = dlc.read("listed.dlc"), dlc.read("pictured.dlc")
    assert listed.model.activations == pictured.model.activations
    assert "images=photos" in pictured.metadata.quantizer_command
    command("run --chip sd835 listed.dlc --input-list prepared/raw_list.txt --runtime cpu -o one")
    command(f"run --chip sd835 pictured.dlc --images photos {how} --runtime cpu -o two")
    files = sorted(tmp_path.glob("one/Result_*/*.raw"))
    assert len(files) == 2
    for path in files:
        assert path.read_bytes() == (tmp_path / "two" / path.parent.name / path.name).read_bytes()


@pytest.mark.usefixtures("photos")
def test_nv21_gets_bytes(command: Command) -> None:
    network = set_input_formats(small_network(), {}, {"in": "nv21"})
    dlc.write("nv21.dlc", Model(network), Metadata())
    done = command("prepare photos --model nv21.dlc -o bytes")
    assert done.out.startswith("2 pictures as NV21 bytes of 8 x 8 pixels")
    assert Path("bytes/b.raw").stat().st_size == 8 * 8 * 3 // 2
    assert (
        command("run --chip sd835 nv21.dlc --input-list bytes/raw_list.txt --runtime cpu").code == 0
    )


@pytest.mark.usefixtures("photos")
def test_a_mean_image_is_cut_at_its_upper_left(command: Command) -> None:
    mean = np.arange(3 * 10 * 12, dtype=np.float64).reshape(3, 10, 12)
    np.save("mean.npy", mean)
    command("prepare photos --size 8 --mean-file mean.npy --channel-order bgr -o m")
    expected = PIXELS[..., ::-1] - mean[:, :8, :8].transpose(1, 2, 0)
    np.testing.assert_array_equal(raw("m/a_cat.raw"), expected.astype(np.float32))


@pytest.mark.usefixtures("photos")
def test_the_shorter_side_first_then_the_middle(command: Command) -> None:
    """8 x 8 pixels whose shorter side stays 8: the middle 4 x 4 of them, untouched."""
    command("prepare photos --size 4 --resize 8 -o m")
    np.testing.assert_array_equal(raw("m/a_cat.raw", (4, 4, 3)), PIXELS[2:6, 2:6])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("prepare photos", "the input of a --model, or --size; give one"),
        ("prepare photos --size 8 --model m.dlc", "give one"),
        ("prepare photos --size 0", "--size '0' is not a size like 227 or 480,640"),
        ("prepare photos --size 1,2,3", "--size '1,2,3' is not a size"),
        ("prepare photos --size 99999", "of at most 16384 pixels a side"),
        ("prepare photos --model m.dlc --grey", "leave --grey and --layout out"),
        ("prepare photos --size 8 --resize 4", "--resize 4 leaves too little for 8 x 8 pixels"),
        ("prepare photos --size 8 --resize 8 --fit stretch", "--fit stretch cuts nothing"),
        ("prepare photos --size 8 --mean 1,2", "--mean has 2 values; a picture of --size has 3"),
        ("prepare photos --size 8 --mean-file m.dlc", "'m.dlc': it is no .npy file of numbers"),
        ("prepare photos --size 8 --mean-file none.npy", "'none.npy': No such file"),
        ("prepare photos --size 8 --mean-file small.npy", "has shape 3x4x4; expected 3 x 8 x 8"),
        ("prepare photos --size 8 --mean-file nan.npy", "holds NaN or infinity"),
        ("prepare photos --size 8 --mean-file nan.npy --mean 1", "(--mean-file); give one"),
        ("prepare photos --size 8 -o #x", "folder '#x' cannot be named in an input list"),
        ("prepare twice --size 8", "'a.bmp' and 'a.png' would both be 'a.raw'"),
        ("prepare broken --size 8", "cannot read picture 'broken/a.png'"),
        ("prepare none --size 8", "cannot read folder 'none'"),
    ],
)
@pytest.mark.usefixtures("photos")
def test_mistakes(refused: Callable[[str], str], line: str, sentence: str) -> None:
    np.save("small.npy", np.zeros((3, 4, 4)))
    np.save("nan.npy", np.full((3, 8, 8), np.nan))
    for folder in ("twice", "broken"):
        Path(folder).mkdir()
    Image.fromarray(PIXELS).save("twice/a.png")
    Image.fromarray(PIXELS).save("twice/a.bmp")
    Path("broken/a.png").write_bytes(b"\x89PNG")
    assert sentence in refused(line)
    assert not Path("prepared").exists()
