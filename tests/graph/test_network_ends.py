"""An input's type says which values it may hold.

Codes at the ends of a network are what QuantizeLinear and DequantizeLinear make.
"""

import numpy as np
import pytest

from hexsim.graph.network_ends import CodedEnd, InputFormat


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


def test_codes_and_real_numbers() -> None:
    """Halves go to the even step, before the zero point is added; the ends saturate."""
    end = CodedEnd("int8", 0.5, 3)
    reals = np.float32([-100, -0.25, 0, 0.25, 0.75, 100])
    np.testing.assert_array_equal(end.codes(reals), np.int8([-128, 3, 3, 3, 5, 127]))
    np.testing.assert_array_equal(end.real(np.int8([-128, 3, 127])), np.float32([-65.5, 0, 62]))


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        (CodedEnd("uint8", 0.5, 0), None),
        (CodedEnd("uint8", 0.0, 0), "scale 0.0"),
        (CodedEnd("uint8", float("nan"), 0), "scale nan"),
        (CodedEnd("uint8", 0.5, 256), "zero point 256"),
    ],
)
def test_faults(end: CodedEnd, fault: str | None) -> None:
    assert fault in (end.fault() or "") if fault else end.fault() is None
