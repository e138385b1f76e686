"""Kernels by name and shape."""

from __future__ import annotations

import pytest

from hexsim.errors import HexsimError
from hexsim.studies.probes import KINDS, kernel_call


def test_a_convolution_keeps_its_size_and_a_stride_divides_it() -> None:
    call = kernel_call("conv", "56x56x64:128:3x3")
    assert (call.operands, call.results) == (((1, 56, 56, 64),), ((1, 56, 56, 128),))
    assert call.parameters == ((3, 3, 64, 128),)
    assert call.macs == 56 * 56 * 64 * 128 * 9
    assert kernel_call("conv", "57x57x64:128:3x3:s2").results == ((1, 29, 29, 128),)
    grouped = kernel_call("conv", "56x56x64:128:3x3:s1:g4")
    assert grouped.macs == call.macs // 4


def test_other_kinds() -> None:
    assert kernel_call("fully_connected", "4x2048:10").macs == 4 * 2048 * 10
    assert kernel_call("max_pool", "112x112x64:3x3:s2").results == ((1, 55, 55, 64),)
    assert kernel_call("depthwise", "10x10x32:3x3").macs == 10 * 10 * 32 * 9
    assert kernel_call("add", "7x7x32").operands == ((1, 7, 7, 32),) * 2
    assert kernel_call("concat", "7x7x32").results == ((1, 7, 7, 64),)
    assert kernel_call("slice", "7x7x64").results == ((1, 7, 7, 32),)
    assert kernel_call("softmax", "1000").results == ((1, 1000),)
    assert kernel_call("colours", "336x224x1").results == ((1, 224, 224, 3),)
    assert kernel_call("colours", "224x224x4").results == ((1, 224, 224, 3),)
    assert kernel_call("pad", "7x7x32").results == ((1, 9, 9, 32),)
    assert kernel_call("narrow", "7x7x32").input_bits == 16


@pytest.mark.parametrize("kind", KINDS)
def test_every_example_can_be_read(kind: str) -> None:
    example = KINDS[kind].example.replace(",", " ").split()[0]
    assert kernel_call(kind, example).results[0]


@pytest.mark.parametrize(
    ("kind", "shape", "says"),
    [
        ("conf", "1x1x1", "unknown kernel 'conf'; did you mean conv"),
        ("conv", "56x56x64", "is not a shape that conv takes; write e.g. 56x56x64:64:3x3"),
        ("conv", "56x56x64:0:3x3", "sizes are from 1 to 65536, not 0"),
        ("conv", "56x56x64:99999999999999999999:3x3", "sizes are from 1 to"),
        ("conv", "56x56x64:64:3x3:g3", "3 groups do not divide"),
        ("max_pool", "2x2x8:3x3", "its window spans 3 pixels of an axis that has 2"),
        ("lrn", "5x5x256:201", "windows of up to 65 channels"),
        ("add", "٣x٣x٣", "is not a shape that add takes"),
        ("shuffle", "28x28x64:g3", "3 groups do not divide"),
        ("colours", "224x224x4:rgb", "is not a shape that colours takes"),
        ("colours", "100x224x1", "is not the shape of a picture in nv21"),
    ],
)
def test_what_is_no_shape_is_refused_in_a_sentence(kind: str, shape: str, says: str) -> None:
    with pytest.raises(HexsimError) as refused:
        kernel_call(kind, shape)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
