"""What a field may hold is declared with its type, and told in words when it does not."""

import dataclasses
import math
import re

import pytest

from hexsim.graph import domains
from hexsim.layers import (
    AxisSlice,
    Clamp,
    Concat,
    Convolution,
    Pad,
    Permute,
    Resize,
    Softmax,
    StridedSlice,
    Window,
)
from hexsim.quantization.encodings import AxisEncoding, Encoding

IO = {"name": "n", "inputs": ("x",), "outputs": ("y",)}


def conv(window: Window, **more: object) -> Convolution:
    return Convolution(**IO, weight="w", window=window, output_channels=2).replace(**more)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Window((0, 1)), "field 'kernel[0]' is 0; expected a whole number from 1 to 2147483647"),
        (Window((1, 1), (1, -2)), "field 'strides[1]' is -2"),
        (Window((1, 1), pads=(0, 0, 0, 2**31)), "field 'pads[3]' is 2147483648"),
        (conv(Window((0, 1))), "field 'window.kernel[0]' is 0"),
        (conv(Window((1, 1)), groups=0), "field 'groups' is 0"),
        (conv(Window((1, 1)), clamp=Clamp(2, 1)), "clamp: clamps to 2 .. 1"),
        (Clamp(math.nan, 1), "field 'low' is nan; expected a number"),
        (Pad(**IO, begins=(1,), ends=(-1,)), "field 'ends[0]' is -1"),
        (Resize(**IO, kind="nearest"), "one of the fields 'scales' and 'size' is needed"),
        (Resize(**IO, kind="nearest", scales=(0.0, 1.0)), "expected a finite number above 0.0"),
        (Softmax(**IO, axes=()), "field 'axes' names no axis"),
        (StridedSlice(**IO, parts=(AxisSlice(0, 3, 3),)), "parts[0]: takes nothing from 3 to 3"),
        (Encoding(5, -1, 1, 0.1, -3), "has 5 bits; expected 4, 8, 16"),
        (Encoding(8, 0, math.inf, 0.1, 0), "reaches from 0 to inf"),
        (Encoding(8, 0, 25.5, 0.0, 0), "has steps of 0"),
        (Encoding(8, 0, 25.5, 0.1, 1), "has the offset 1, which is no code of 8 bits"),
        (Encoding(8, -12.8, 12.7, 0.1, -127, symmetric=True), "has the offset -127"),
        (Encoding(8, 0, 51.0, 0.1, 0), "its steps and offset from 0 to 25.5"),
        (
            AxisEncoding((Encoding.symmetric_of(1, 4), Encoding.symmetric_of(1, 8))),
            "has channels of [4, 8] bits",
        ),
    ],
)
def test_what_is_outside_is_reported_in_words(value: object, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        domains.require(value)


@pytest.mark.parametrize(
    "value",
    [
        Window((3, 3), (2, 2), (1, 1, 1, 1)),
        Clamp(),
        Clamp(0, 6),
        conv(Window((1, 1))),
        Encoding.from_range(-1, 3),
        Encoding.from_range(0, 1e-6, 16),
        Encoding.symmetric_of(2.5, 4),
        AxisEncoding((Encoding.symmetric_of(1.0), Encoding.symmetric_of(2.0))),
    ],
)
def test_what_is_inside_is_taken(value: object) -> None:
    domains.require(value)


@pytest.mark.parametrize(
    ("layer", "rank", "words"),
    [
        (
            Concat(**IO, axis=2),
            2,
            "'axis' is 2; expected an axis of its operand, which has 2",
        ),
        (Concat(**IO, axis=-1), 2, "field 'axis' is -1"),
        (Softmax(**IO, axes=(1, 1)), 3, "expected different axes of its operand, which has 3"),
        (Permute(**IO, permutation=(0, 2)), 2, "expected all axes of its operand"),
        (Pad(**IO, begins=(1,), ends=(1, 1)), 2, "expected one number for each axis"),
    ],
)
def test_axes_are_those_of_the_operand(layer: object, rank: int, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        domains.require_axes(layer, rank)


def test_a_field_without_a_mark_may_hold_anything() -> None:
    @dataclasses.dataclass
    class Free:
        number: int

    domains.require(Free(-(2**70)))
    assert domains.fault_of(int, -1) is None
