"""Hostile names of tensors and layers: right values and files, or one sentence and no file."""

from __future__ import annotations

from pathlib import Path

import pytest

import hexsim
from hexsim.errors import HexsimError
from tests.fuzz.names import COUNT, dlc_file, judged, onnx_file
from tests.thorough import cases

QUICK = 12
PLAIN = tuple(f"name{position}".encode() for position in range(COUNT))


def test_plain_names_are_answered(tmp_path: Path) -> None:
    """Else the cases would start from files that are refused anyway."""
    (tmp_path / "m.onnx").write_bytes(onnx_file(PLAIN))
    dlc_file(PLAIN, tmp_path / "m.dlc", quantized=True)
    for file in ("m.onnx", "m.dlc"):
        assert hexsim.load(tmp_path / file).network.outputs == ("name4", "name5")


@pytest.mark.parametrize("position", range(6))
def test_a_tensor_without_a_name_is_refused(position: int, tmp_path: Path) -> None:
    """ONNX says so for an operand that is left out, and so does onnxruntime."""
    dlc_file((*PLAIN[:position], b"", *PLAIN[position + 1 :]), tmp_path / "m.dlc", quantized=False)
    with pytest.raises(HexsimError, match="a tensor has no name"):
        hexsim.load(tmp_path / "m.dlc")


def test_hostile_names_end_in_answers_or_sentences(tmp_path: Path) -> None:
    said = [judged(number, tmp_path) for number in range(QUICK)]
    assert any(said)
    assert not all(said)


@pytest.mark.slow
def test_many_hostile_names_do(tmp_path: Path) -> None:
    for number in cases(50):
        judged(number, tmp_path)
