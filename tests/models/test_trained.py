"""The trained networks answer pictures they have not seen, in floats and as their form allows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import hexsim
from hexsim import models
from hexsim.inputs.source import judging_source, seeded_source
from hexsim.models import _shapes
from hexsim.models._trained import archive

PLAIN, FRIENDLY = models.TRAINED


@pytest.mark.parametrize("name", models.TRAINED)
def test_weights_are_small_and_right(name: str) -> None:
    """Judged by onnxruntime, on more pictures than the commands draw."""
    assert archive(name).stat().st_size < 2e6
    model = models.materialise(models.build(name)).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    pictures, classes = models.pictures(300, 5)
    answers = [
        session.run(None, {_shapes.INPUT: picture[None]})[0].argmax() for picture in pictures
    ]
    right = sum(answer in known for answer, known in zip(answers, classes, strict=True))
    assert right > 0.93 * 300


def test_pictures_depend_on_seed_and_number_alone() -> None:
    few, classes = _shapes.draw(3, 4)
    more, _ = _shapes.draw(12, 4)
    np.testing.assert_array_equal(few, more[:3])
    assert not np.array_equal(few, _shapes.draw(3, 5)[0])
    assert [_shapes.CLASSES[index] for index in classes] == ["disc", "ring", "square"]
    bytes_of = few * 128 + 128
    assert np.array_equal(bytes_of, np.rint(bytes_of))
    assert bytes_of.min() >= 0
    assert bytes_of.max() <= 255


def test_int8_loses_the_plain_form_and_keeps_the_friendly_one() -> None:
    """The claim of the guides, by default options on the DSP; equalisation saves the plain form."""
    right = {}
    for name in models.TRAINED:
        (case,) = hexsim.benchmark(name, runtime="dsp", chips="sd835").results
        assert case.accuracy is not None
        right[name] = case.accuracy.top1_right
        assert case.accuracy.inputs == 200
        assert case.accuracy.float_top1_right is not None
        assert case.accuracy.float_top1_right >= 188
    assert right[PLAIN] is not None
    assert right[FRIENDLY] is not None
    assert right[PLAIN] < 120
    assert right[FRIENDLY] >= 186
    saved = hexsim.quantize(PLAIN, optimizations=["cle"])
    (case,) = hexsim.benchmark(saved, runtime="dsp", chips="sd835").results
    assert case.accuracy is not None
    assert case.accuracy.top1_right is not None
    assert case.accuracy.top1_right >= 180


def test_every_way_of_naming_it_draws_the_same_pictures(tmp_path: Path) -> None:
    models.export(FRIENDLY, tmp_path / "m.onnx")
    hexsim.save(hexsim.load(FRIENDLY), tmp_path / "m.dlc")
    sources = [FRIENDLY, tmp_path / "m.onnx", tmp_path / "m.dlc"]
    networks = [hexsim.load(source).network for source in sources]
    for of in (judging_source, seeded_source):
        first, *others = [of(network) for network in networks]
        assert not first.seeded
        for other in others:
            assert other.classes == first.classes
            for a, b in zip(first.feeds(), other.feeds(), strict=True):
                np.testing.assert_array_equal(a[_shapes.INPUT], b[_shapes.INPUT])
    resized = hexsim.load(FRIENDLY, input_dims={_shapes.INPUT: (2, 3, 32, 32)}).network
    assert judging_source(resized).seeded, "pictures are for one at a time"
