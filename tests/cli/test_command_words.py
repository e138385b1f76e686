"""Two words after a paired option become one, a missing value is filled in."""

import pytest

from hexsim.cli._command import join_pairs


def test_pairs_are_joined_and_the_rest_is_left_alone() -> None:
    words = ["bench", "--input-dim", "data", "1,3", "--input-dim", "x 2,2", "--chip", "sd835"]
    assert join_pairs(words) == [
        *("bench", "--input-dim", "data 1,3", "--input-dim", "x 2,2", "--chip", "sd835"),
    ]
    assert join_pairs(["--input-dim", "alone"]) == ["--input-dim", "alone"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "run --chip sd835 a_b.dlc --input_list a_b.txt",
            "run --chip sd835 a_b.dlc --input-list a_b.txt",
        ),
        (
            "bench --chip sd835 --perf_profile=low_balanced",
            "bench --chip sd835 --perf-profile=low_balanced",
        ),
        ("bench -o a_b", "bench -o a_b"),
        ("--use_enhanced_quantizer m", "--use-enhanced-quantizer both m"),
    ],
)
def test_an_underscore_is_as_good_as_a_hyphen(line: str, expected: str) -> None:
    assert join_pairs(line.split()) == expected.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("quantize m --use-enhanced-quantizer", "quantize m --use-enhanced-quantizer both"),
        ("--use-enhanced-quantizer m.dlc", "--use-enhanced-quantizer both m.dlc"),
        ("--use-enhanced-quantizer weights m", "--use-enhanced-quantizer weights m"),
        ("--use-enhanced-quantizer --axis-quant", "--use-enhanced-quantizer both --axis-quant"),
    ],
)
def test_a_missing_value_is_filled_in(line: str, expected: str) -> None:
    assert join_pairs(line.split()) == expected.split()
