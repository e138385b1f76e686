"""An input's type says which values it may hold."""

import numpy as np
import pytest

from hexsim.graph.input_format import InputFormat


@pytest.mark.parametrize("kind", ["default", "opaque"])
def test_floats_may_be_anything(kind) -> None:
    assert InputFormat(kind).fault(np.array([-1.0, 0.5, 1e9])) is None


def test_an_image_holds_whole_numbers_of_a_byte() -> None:
    image = InputFormat("image")
    assert image.fault(np.arange(256, dtype=np.float32)) is None
    assert image.fault(np.arange(256, dtype=np.uint8)) is None
    for value in (-1, 256, 127.5, np.nan):
        fault = image.fault(np.array([[3, value]], np.float32))
        assert fault is not None
        assert fault.startswith(f"{value:g}, but an input of type image")
