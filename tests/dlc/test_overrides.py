"""Overrides and origins come back from a file, and files without them are still read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hexsim import dlc
from hexsim.dlc import archive
from hexsim.dlc.document import DlcDocument
from hexsim.errors import HexsimError
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import (
    NO_OVERRIDES,
    FloatOverride,
    IntegerOverride,
    Overrides,
    Range,
)
from tests.dlc.made import assert_same, small_network, with_encodings

OVERRIDES = Overrides(
    {"a": IntegerOverride(16, (Range(-1.0, 2.5),)), "b": FloatOverride(16)},
    {
        "w": IntegerOverride(4, (Range(scale=0.5, offset=-8), Range(scale=1.0)), symmetric=True),
        "v": IntegerOverride(8, (Range(0.0, 1.0, 0.25, 0),), symmetric=False, source="QDQ node"),
        "f": FloatOverride(32, "QDQ node"),
    },
    renamed={"a": "c"},
    absorbed={"b": "layer", "f": ""},
)


def test_overrides_come_back(tmp_path: Path) -> None:
    path = tmp_path / "m.dlc"
    dlc.write(path, Model(small_network()), overrides=OVERRIDES)
    assert dlc.read(path).overrides == OVERRIDES
    dlc.write(path, Model(small_network()))
    assert dlc.read(path).overrides == NO_OVERRIDES


@pytest.mark.parametrize("offset", [-(2**31), -(2**32) + 1, 2**32 - 1])
def test_offsets_of_the_widest_codes_come_back(tmp_path: Path, offset: int) -> None:
    wide = Overrides({}, {"w": IntegerOverride(32, (Range(scale=0.5, offset=offset),))})
    dlc.write(tmp_path / "m.dlc", Model(small_network()), overrides=wide)
    assert dlc.read(tmp_path / "m.dlc").overrides == wide


def test_no_file_is_written_that_would_not_be_read(tmp_path: Path) -> None:
    wrong = Overrides({}, {"w": IntegerOverride(33, (Range(-1.0, 1.0),))})
    with pytest.raises(HexsimError, match=r"its overrides: .*bitwidth' is 33; expected"):
        dlc.write(tmp_path / "m.dlc", Model(small_network()), overrides=wrong)
    assert not list(tmp_path.iterdir())


def test_origins_come_back(tmp_path: Path) -> None:
    model = replace(with_encodings(small_network()), origins={"in": "override"})
    dlc.write(tmp_path / "q.dlc", model)
    read = dlc.read(tmp_path / "q.dlc").model
    assert read.origins == {"in": "override"}  # type: ignore[union-attr]


def test_files_of_the_first_format_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They know neither overrides nor origins."""
    written = DlcDocument.to_bytes

    def as_before(self: DlcDocument) -> bytes:
        tree = json.loads(written(self))
        del tree["overrides"], tree["encodings"]["origins"], tree["hta"]
        return json.dumps(tree).encode("ascii")

    model = with_encodings(small_network())
    with monkeypatch.context() as patch:
        patch.setattr(DlcDocument, "to_bytes", as_before)
        patch.setattr(archive, "VERSION", 1)
        dlc.write(tmp_path / "old.dlc", model)
    assert b"hexsim-dlc 0001" in (tmp_path / "old.dlc").read_bytes()
    read = dlc.read(tmp_path / "old.dlc")
    assert_same(model, read.model)
    assert read.overrides == NO_OVERRIDES
