"""A record of a section that is not that section's is refused, where the file is read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.dlc.checks import require_record
from hexsim.errors import HexsimError
from hexsim.hta.command_list import FORMAT
from hexsim.quantization.model import HtaSection
from tests.dlc.made import record, small_network, with_encodings, with_weights
from tests.fuzz.containers import opened, sealed

LAYERS = ("a", "b", "c")


def changed(**values: object) -> bytes:
    return json.dumps({**json.loads(record(LAYERS)), **values}).encode()


def commands(*command: object) -> bytes:
    layers = [{"layer": name, "array_clocks": 1, "commands": [command]} for name in LAYERS]
    return changed(layers=layers)


def test_its_own_is_taken() -> None:
    require_record(record(LAYERS), "sd855", LAYERS)
    require_record(commands(0, 0, 0, -1), "sd855", LAYERS)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (record(LAYERS, "sd865"), "its record is for chip 'sd865', the section for 'sd855'"),
        (record(("a", "c", "b")), "layer 1 is 'c' there, and 'b' in the section"),
        (record(LAYERS[:2]), "of other layers: it has 2, the section 3"),
        (changed(format=FORMAT + 1), f"format {FORMAT + 1}, this hexsim reads {FORMAT}"),
        (changed(layers=[1, 2, 3]), "is no list of commands"),
        (commands(1, 2, 3), "no possible commands for layer 'a'"),
        (commands(1, -2, 3, -1), "no possible commands for layer 'a'"),
        (commands(1, 2, 3, 0), "no possible commands for layer 'a'"),
        (commands(1, 2.5, 3, -1), "no possible commands for layer 'a'"),
        (b"[]", "is no list of commands"),
        (b"{", "its record, line 1"),
        (b"\xff", "its record"),
    ],
)
def test_another_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        require_record(data, "sd855", LAYERS)


def test_files_with_the_record_of_another_section_are_neither_written_nor_read(
    tmp_path: Path,
) -> None:
    network = with_weights(small_network())
    model = with_encodings(network, False, 8, False, False)
    first, *others = (layer.name for layer in model.network.layers)
    good = replace(model, hta=(HtaSection("sd855", (first,), record((first,))),))
    dlc.write(tmp_path / "good.dlc", good)
    assert dlc.read(tmp_path / "good.dlc").model.hta == good.hta
    forged = replace(model, hta=(HtaSection("sd855", (first,), record(others)),))
    with pytest.raises(HexsimError, match=r"HTA section 'aip.hta.sd855.0'.* of other layers"):
        dlc.write(tmp_path / "bad.dlc", forged)
    assert not (tmp_path / "bad.dlc").exists()
    parts = opened(tmp_path / "good.dlc")
    parts.records = {entry: record(others) for entry in parts.records}
    sealed(parts, tmp_path / "bad.dlc")
    with pytest.raises(HexsimError, match=r"bad.dlc' is no model: HTA section .* of other layers"):
        dlc.read(tmp_path / "bad.dlc")
