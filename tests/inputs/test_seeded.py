"""Made-up inputs: deterministic, around zero, and different from one another."""

import dataclasses
import itertools

import numpy as np
import pytest
from onnx import helper

from hexsim.graph.network_ends import CodedEnd, InputFormat
from hexsim.inputs.seeded import as_bytes, seeded_calibration, seeded_inputs
from hexsim.onnx_io.read.reader import read
from tests.conftest import make_model

IMAGE = {"x": (1, 3, 64, 48)}


@pytest.mark.parametrize(
    "shape", [(), (10,), (1, 490), (1, 49, 10), (1, 3, 1, 1), (1, 3, 32, 32), (1, 2, 3, 4, 5)]
)
def test_any_rank(shape: tuple[int, ...]) -> None:
    for inputs in seeded_inputs({"x": shape}, 3):
        assert inputs["x"].shape == shape
        assert inputs["x"].dtype == np.float32
        assert np.isfinite(inputs["x"]).all()


def test_equal_calls_give_equal_inputs_and_longer_ones_begin_alike() -> None:
    long, short = seeded_inputs(IMAGE, 5, seed=3), seeded_inputs(IMAGE, 2, seed=3)
    for a, b in zip(long, short, strict=False):
        assert np.array_equal(a["x"], b["x"])
    assert not np.array_equal(long[0]["x"], seeded_inputs(IMAGE, 1, seed=4)[0]["x"])


def test_inputs_of_two_names_differ_and_do_not_depend_on_each_other() -> None:
    shape = (1, 3, 8, 8)
    (both,) = seeded_inputs({"a": shape, "b": shape}, 1)
    (alone,) = seeded_inputs({"b": shape}, 1)
    assert not np.array_equal(both["a"], both["b"])
    assert np.array_equal(both["b"], alone["b"])


def test_values_are_around_zero_with_a_range_about_one() -> None:
    values = np.stack([inputs["x"] for inputs in seeded_inputs(IMAGE, 32)])
    assert abs(values.mean()) < 0.15
    assert 0.5 < values.std() < 1.5
    assert np.mean(np.abs(values) < 3) > 0.99


def test_inputs_differ_clearly_from_one_another() -> None:
    images = [inputs["x"] for inputs in seeded_inputs(IMAGE, 8)]
    for a, b in itertools.combinations(images, 2):
        assert np.sqrt(np.mean((a - b) ** 2)) > 0.5 * min(a.std(), b.std())
        assert np.corrcoef(a.ravel(), b.ravel())[0, 1] < 0.9


def test_neighbouring_pixels_are_alike() -> None:
    (inputs,) = seeded_inputs(IMAGE, 1)
    image = inputs["x"][0]
    steps = np.diff(image, axis=1).std()
    independent = np.sqrt(2) * image.std(axis=(1, 2)).mean()
    assert steps < 0.5 * independent


def test_as_bytes_are_whole_numbers_of_a_byte_with_the_same_structure() -> None:
    (fields,) = seeded_inputs({"x": (1, 3, 64, 64)}, 1)
    field, made = fields["x"], as_bytes(fields["x"])
    assert made.dtype == np.float32
    assert InputFormat("image").fault(made) is None
    assert made.std() > 20
    assert np.corrcoef(field.ravel(), made.ravel())[0, 1] > 0.98


def test_inputs_that_are_codes_fill_their_range() -> None:
    end = CodedEnd("int8", 0.5, 3)
    model = make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": [1, 3, 32, 32]}, ["y"])
    network = dataclasses.replace(read(model), coded_ends={"x": end})
    (made,) = seeded_calibration(network, 1)
    np.testing.assert_array_equal(end.real(end.codes(made["x"])), made["x"])
    assert np.ptp(end.codes(made["x"]).astype(int)) > 128
