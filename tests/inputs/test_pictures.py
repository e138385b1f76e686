"""Pictures as a network takes them, against numpy; and a sentence for what cannot be.

Bytes of a camera, and back: what is encoded is what the conversion layer decodes.
"""

import builtins
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.graph.network_ends import InputFormat, PictureSteps
from hexsim.inputs.pictures import encoded, pictures
from hexsim.inputs.preprocessing import crop_box
from hexsim.layers.images import CONVERTED, encoded_shape
from hexsim.passes.network_inputs import set_input_formats
from tests.onnx_io.write.emitters.pictures import bgr
from tests.small_networks import Sketch

PIXELS = np.random.default_rng(4).integers(0, 256, (4, 6, 3), np.uint8)


def network(*shape: int) -> Network:
    net = Sketch(shape)  # type: ignore[arg-type]
    return net.network(net.pool("in", kernel=1))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """b.png holds PIXELS, a.PNG their negative; notes.txt is no picture."""
    Image.fromarray(PIXELS).save(tmp_path / "b.png")
    Image.fromarray(255 - PIXELS).save(tmp_path / "a.PNG", format="png")
    (tmp_path / "notes.txt").write_text("none")
    return tmp_path


def test_files_come_in_the_order_of_their_names(folder: Path) -> None:
    source = pictures(folder, network(1, 4, 6, 3), PictureSteps())
    assert source.names == ("a.PNG", "b.png")
    assert (source.items, source.batch) == (2, 1)
    for _ in range(2):
        first, second = (feed["in"] for feed in source.feeds())
        np.testing.assert_array_equal(first[0], 255 - PIXELS)
        np.testing.assert_array_equal(second[0], PIXELS)


def test_mean_std_and_order(folder: Path) -> None:
    how = PictureSteps((10.0, 20.0, 30.0), (2.0,), "bgr")
    *_, feed = pictures(folder, network(1, 4, 6, 3), how).feeds()
    expected = (PIXELS[..., ::-1] - np.array([10, 20, 30])) / 2
    np.testing.assert_allclose(feed["in"][0], expected)


def test_the_middle_is_cut_out_or_the_whole_stretched(folder: Path) -> None:
    *_, feed = pictures(folder, network(1, 4, 4, 3), PictureSteps()).feeds()
    np.testing.assert_array_equal(feed["in"][0], PIXELS[:, 1:5])
    *_, feed = pictures(folder, network(1, 4, 4, 3), PictureSteps(fit="stretch")).feeds()
    whole = Image.fromarray(PIXELS).resize((4, 4), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(feed["in"][0], np.asarray(whole))


@given(*[st.integers(1, 700)] * 4)
def test_the_middle_lies_inside_and_has_the_proportions(
    across: int, down: int, width: int, height: int
) -> None:
    left, top, right, bottom = crop_box((across, down), height, width, PictureSteps())
    assert 0 <= left < right <= across
    assert 0 <= top < bottom <= down
    assert (right - left) * height == pytest.approx((bottom - top) * width)
    assert left == pytest.approx(across - right, abs=1e-9)
    assert right - left == pytest.approx(across) or bottom - top == pytest.approx(down)


def test_one_channel_is_grey(folder: Path) -> None:
    *_, feed = pictures(folder, network(1, 4, 6, 1), PictureSteps()).feeds()
    grey = PIXELS @ np.array([0.299, 0.587, 0.114])
    np.testing.assert_allclose(feed["in"][0, ..., 0], grey, atol=1)


def test_batches_are_filled_up_with_the_last_picture(folder: Path) -> None:
    Image.fromarray(PIXELS).save(folder / "c.png")
    source = pictures(folder, network(2, 4, 6, 3), PictureSteps())
    first, second = (feed["in"] for feed in source.feeds())
    np.testing.assert_array_equal(first[1], PIXELS)
    np.testing.assert_array_equal(second[0], PIXELS)
    np.testing.assert_array_equal(second[1], PIXELS)
    assert source.items == 3
    assert "applying padding" in source.description


@pytest.mark.parametrize("encoding", ["rgb", "rgba", "argb32", "nv21"])
def test_an_input_in_another_encoding_gets_its_bytes(folder: Path, encoding) -> None:
    converted = set_input_formats(network(1, 4, 6, 3), {}, {"in": encoding})
    *_, feed = pictures(folder, converted, PictureSteps()).feeds()
    np.testing.assert_array_equal(feed["in"][0], encoded(PIXELS, encoding))


def test_a_turned_photograph_is_turned_back(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    Image.fromarray(PIXELS).save(tmp_path / "turned.png", exif=exif)
    (feed,) = pictures(tmp_path, network(1, 6, 4, 3), PictureSteps()).feeds()
    np.testing.assert_array_equal(feed["in"][0], np.rot90(PIXELS, -1))


IMAGE = replace(network(1, 4, 6, 3), input_formats={"in": InputFormat("image")})
RGB = set_input_formats(network(1, 4, 6, 3), {}, {"in": "rgb"})


@pytest.mark.parametrize(
    ("net", "how", "sentence"),
    [
        (network(1, 4, 6, 4), PictureSteps(), "stored as 1x4x6x4, which is no picture"),
        (network(1, 4, 6, 3), PictureSteps(mean=(1.0, 2.0)), "mean has 2 values; .* 3 channels"),
        (IMAGE, PictureSteps(std=(255.0,)), r"takes bytes \(image, bgr\); leave mean"),
        (RGB, PictureSteps(mean=(1.0,)), r"takes bytes \(default, rgb\)"),
        (RGB, PictureSteps(channel_order="bgr"), "leave channel_order out"),
    ],
)
def test_what_contradicts_the_input(folder: Path, net, how, sentence) -> None:
    with pytest.raises(HexsimError, match=sentence):
        pictures(folder, net, how)


def test_folders_without_pictures_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"holds no picture; known endings: .bmp"):
        pictures(tmp_path, network(1, 4, 6, 3), PictureSteps())
    with pytest.raises(HexsimError, match="cannot read folder"):
        pictures(tmp_path / "none", network(1, 4, 6, 3), PictureSteps())
    (tmp_path / "bad.jpg").write_bytes(b"\xff\xd8 no picture")
    with pytest.raises(HexsimError, match=r"cannot read picture '.*bad.jpg'"):
        list(pictures(tmp_path, network(1, 4, 6, 3), PictureSteps()).feeds())


def test_without_pillow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name.startswith("PIL"):
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(HexsimError, match=r"pip install .*\[images\]'"):
        pictures(folder, network(1, 4, 6, 3), PictureSteps())


def test_a_postscript_by_the_name_of_a_picture_starts_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pillow would take it for EPS, and start Ghostscript."""
    ran: list[object] = []
    monkeypatch.setattr("PIL.EpsImagePlugin.Ghostscript", lambda *given, **more: ran.append(given))
    head = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 6 4\n%%EndComments\nshowpage\n%%EOF\n"
    (tmp_path / "a.png").write_text(head)
    with Image.open(tmp_path / "a.png") as taken:
        assert taken.format == "EPS"
    source = pictures(tmp_path, network(1, 4, 6, 3), PictureSteps())
    words = "it is none of BMP, GIF, JPEG, PNG, PPM, TIFF, WEBP, or damaged"
    with pytest.raises(HexsimError, match=words):
        list(source.feeds())
    assert not ran


@pytest.mark.parametrize("kind", ["bmp", "gif", "jpeg", "mpo", "pgm", "png", "ppm", "tiff", "webp"])
def test_pictures_of_all_kinds_are_read_whatever_their_ending(kind: str, tmp_path: Path) -> None:
    grey = np.full((4, 6), 90, np.uint8)
    kinds = {"pgm": "ppm"}
    Image.fromarray(grey).save(tmp_path / "a.jpg", kinds.get(kind, kind))
    (feed,) = pictures(tmp_path, network(1, 4, 6, 1), PictureSteps()).feeds()
    np.testing.assert_allclose(feed["in"][0, ..., 0], grey, atol=2)


def test_a_picture_of_many_pixels_is_refused_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """12 000 x 12 000 pixels, whose data are missing: nobody gets as far as to miss them."""
    header = b"P6 12000 12000 255\n"
    (tmp_path / "a.ppm").write_bytes(header)
    source = pictures(tmp_path, network(1, 4, 6, 3), PictureSteps())
    words = "a.ppm' asks for 1.44e[+]08, and the budget is 8.95e[+]07 pixels in a picture"
    with pytest.raises(HexsimError, match=words):
        list(source.feeds())
    assert not recwarn.list
    monkeypatch.setenv("HEXSIM_BUDGET", "2")
    with pytest.raises(HexsimError, match="cannot read picture"):
        list(source.feeds())


def test_pictures_for_an_input_of_bytes(folder: Path) -> None:
    net = network(1, 4, 6, 3)
    bytes_ = replace(net, tensors={**net.tensors, "in": replace(net.tensors["in"], dtype="uint8")})
    *_, feed = pictures(folder, bytes_, PictureSteps()).feeds()
    assert feed["in"].dtype == np.uint8
    np.testing.assert_array_equal(feed["in"][0], PIXELS)
    for how in (PictureSteps((128.0,)), PictureSteps((0.0,), (2.0,))):
        read = pictures(folder, bytes_, how).feeds()
        with pytest.raises(
            HexsimError, match=r"picture '.*a.PNG' for input 'in' gives .* 0 to 255"
        ):
            next(read)


@pytest.mark.parametrize("encoding", CONVERTED)
def test_there_and_back(encoding) -> None:
    blocks = np.random.default_rng(2).integers(0, 256, (2, 3, 3), np.uint8)
    rgb = blocks.repeat(2, axis=0).repeat(2, axis=1)  # 2x2 pixels of one colour
    stored = encoded(rgb, encoding)
    assert stored.dtype == np.float32
    assert (1, *stored.shape) == encoded_shape(encoding, (1, 4, 6, 3))
    back = bgr(encoding, stored[np.newaxis])[0]
    # Rounding Y, V and U to whole numbers moves a colour by up to (1.164 + 2.018) / 2.
    assert np.abs(back - rgb[..., ::-1]).max() <= (1.6 if encoding == "nv21" else 0)


def test_grey_has_no_chroma() -> None:
    stored = encoded(np.full((2, 2, 3), 128, np.uint8), "nv21")
    assert stored.ravel().tolist() == [126, 126, 126, 126, 128, 128]
