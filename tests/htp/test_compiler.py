"""The graph compiler: what it folds and what it spills."""

from __future__ import annotations

from pathlib import Path

import pytest

from hexsim.htp.compiler import compile_graph
from tests.tensor_graphs import convolution, normalised

_VTCM = 8 << 20


def test_a_factor_and_then_a_summand_are_folded(tmp_path: Path) -> None:
    """Neither costs a shallow vector."""
    network, calls = normalised(str(tmp_path / "m.onnx"), "Mul", "Sub")
    first, second, _ = compile_graph(calls, network, _VTCM)
    assert (first.folded, second.folded) == (True, True)
    assert first.cost.shallow_vectors == second.cost.shallow_vectors == 0


@pytest.mark.parametrize("second", ["Div", "Mul"])
def test_the_other_order_stays_two_operations(tmp_path: Path, second: str) -> None:
    """Each works on 64 x 64 pixels of 32 channels, though the image has three."""
    network, calls = normalised(str(tmp_path / "m.onnx"), "Sub", second)
    operations = compile_graph(calls, network, _VTCM)
    shallow = [operation.cost.shallow_vectors for operation in operations]
    assert shallow == [64 * 64 * 32 / 128, 64 * 64 * 32 / 128, 0]
    assert not any(operation.folded for operation in operations)


def test_what_exceeds_half_of_vtcm_is_spilled(tmp_path: Path) -> None:
    """Operand and result are 128 KB each."""
    network, calls = convolution(str(tmp_path / "m.onnx"), 32, 64, 32)
    (fits,) = compile_graph(calls, network, 512 << 10)
    (small,) = compile_graph(calls, network, 256 << 10)
    assert fits.spill_bytes == 0
    assert small.spill_bytes == 128 << 10
