"""`hexsim diff` finds what differs, and nothing where nothing does."""

from collections.abc import Callable
from pathlib import Path

import hexsim
from hexsim import dlc
from hexsim.quantization.model import Model
from tests.dlc.made import small_network, with_encodings

Command = Callable[[str], tuple[int, str, str]]


def test_equal_models_do_not_differ(command: Command, tmp_path: Path) -> None:
    for name in ("a", "b"):
        dlc.write(tmp_path / f"{name}.dlc", Model(small_network()))
    assert command("diff a.dlc b.dlc") == (0, "a.dlc and b.dlc do not differ\n", "")


def test_quantizing_changes_weights_and_adds_encodings(command: Command, tmp_path: Path) -> None:
    dlc.write(tmp_path / "a.dlc", Model(small_network()))
    dlc.write(tmp_path / "q.dlc", with_encodings(small_network()))
    code, out, _ = command("diff a.dlc q.dlc --json d.json --csv d.csv")
    assert code == 0
    answer = hexsim.diff("a.dlc", "q.dlc")
    assert (f"{answer}\n", answer.to_csv()) == (out, (tmp_path / "d.csv").read_text())
    assert answer.to_json() == (tmp_path / "d.json").read_text()
    in_memory = hexsim.diff("a.dlc", hexsim.load("q.dlc"), show=["weights"])
    assert in_memory.weights == answer.weights != ()
    assert "Weights" in out
    assert "weight encoding" in out
    assert "Unique layers" not in out


def test_a_weight_that_cannot_be_read_is_one_sentence(
    refused: Callable[[str], str], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        dlc.write(tmp_path / f"{name}.dlc", Model(small_network()))
    archive = dlc.archive.open_archive(tmp_path / "b.dlc")
    data = bytearray((tmp_path / "b.dlc").read_bytes())
    data[archive.params_start] ^= 1
    (tmp_path / "b.dlc").write_bytes(data)
    assert "is not what was written" in refused("diff a.dlc b.dlc")
