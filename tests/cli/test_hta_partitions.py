"""`--enable-hta` puts sections into the file, and info and diff show them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hexsim import dlc
from hexsim.quantization.model import Model
from tests.dlc.made import small_network, with_weights
from tests.small_networks import Sketch

Command = Callable[[str], tuple[int, str, str]]
LINE = "quantize m.dlc --input-list list.txt -o q.dlc --enable-hta --chip sd855"


@pytest.fixture(autouse=True)
def calibration(tmp_path: Path) -> None:
    dlc.write(tmp_path / "m.dlc", Model(small_network()))
    np.ones((1, 8, 8, 3), np.float32).tofile(tmp_path / "0.raw")
    (tmp_path / "list.txt").write_text("0.raw\n")


def _sections(path: str) -> list[tuple[str, int]]:
    model = dlc.read(path).model
    assert model.quantized
    return [(section.chip, len(section.layers)) for section in model.hta]


def test_automatic_and_listed_sections(command: Command) -> None:
    code, _, err = command(LINE)
    assert (code, _sections("q.dlc")) == (0, [("sd855", 4)])
    assert "Compiled HTA section for sd855: layer ids 1-4, 100.0% of the MACs" in err
    command(f"{LINE} --hta-partitions 0-1,3-4 --hta-partitions sm8250:")
    assert _sections("q.dlc") == [("sd855", 1), ("sd855", 2), ("sd865", 4)]
    assert "hta_partitions=0-1,3-4 sm8250:" in dlc.read("q.dlc").metadata.quantizer_command


def test_info_and_diff_show_them(command: Command, tmp_path: Path) -> None:
    command(f"{LINE} --hta-partitions 1-2")
    command("quantize m.dlc --input-list list.txt -o p.dlc")
    _, out, _ = command("info q.dlc --json q.json")
    assert "AIP Info:" in out
    assert out.splitlines()[-1].split()[:2] == ["sd855", "1-2"]
    (section,) = json.loads((tmp_path / "q.json").read_text())["hta_sections"]
    assert (section["ids"], section["layers"]) == ("1-2", 2)
    assert "AIP Info" not in command("info p.dlc")[1]
    assert command("diff p.dlc q.dlc")[1].startswith("HTA sections and prepared graphs\n")


def test_a_file_without_sections_says_so(command: Command, tmp_path: Path) -> None:
    net = Sketch((1, 8, 8, 32))
    dlc.write(tmp_path / "m.dlc", Model(with_weights(net.network(net.conv("in", 8)))))
    np.ones((1, 8, 8, 32), np.float32).tofile(tmp_path / "0.raw")
    code, _, err = command(LINE)
    assert (code, _sections("q.dlc")) == (0, [])
    assert "has 32 channels" in err.splitlines()[-1]
    assert "no HTA section" in err.splitlines()[-1]


def test_mistakes_leave_no_file(refused: Callable[[str], str], tmp_path: Path) -> None:
    assert "overlap" in refused(f"{LINE} --hta-partitions 1-2,2-3")
    assert "sd835 has no aip runtime" in refused(f"{LINE} --chip sd835")
    line = LINE.replace(" --enable-hta", "")
    assert "--enable-hta" in refused(f"{line} --hta-partitions 1-2")
    assert not (tmp_path / "q.dlc").exists()
