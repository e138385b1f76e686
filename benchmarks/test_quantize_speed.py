"""The comparison with onnxruntime runs, on a network small enough for every build."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quantize_speed import PAIRS, compare


@pytest.mark.parametrize("method", PAIRS)
def test_both_sides_quantize(method: str, tmp_path: Path) -> None:
    network, inputs, named, *numbers = compare("conv1x1_64to64@8x8", 2, 1, method, tmp_path).split()
    assert (network, inputs, named) == ("conv1x1_64to64@8x8", "2", method)
    assert float(numbers[-1]) > 0
    assert {"ours.dlc", "theirs.onnx"} <= {path.name for path in tmp_path.iterdir()}
