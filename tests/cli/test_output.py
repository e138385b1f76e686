"""Groups of outputs, and the default beside a model."""

from pathlib import Path

import pytest

from hexsim.cli._output import JsonCsvTrace, beside_model
from hexsim.errors import HexsimError


def test_the_default_lies_beside_the_model() -> None:
    assert beside_model({"model": "nets/m.dlc", "output": None}, "q.dlc") == Path("nets/q.dlc")
    assert beside_model({"model": "nets/m.dlc", "output": Path("q")}, "x") == Path("q")


@pytest.mark.parametrize("model", ["", ".", "/"])
def test_a_name_without_a_file_has_no_default(model: str) -> None:
    with pytest.raises(HexsimError, match="is no file; give a model"):
        beside_model({"model": model, "output": None}, "q.dlc")


def test_a_group_writes_what_was_asked_for_and_makes_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = JsonCsvTrace(json=Path("x.json"), trace=Path("x.trace"))
    made = []

    def content(of: str) -> str:
        made.append(of)
        return f"{of} ü"

    outputs.write(
        json=lambda: content("json"), csv=lambda: content("csv"), trace=lambda: b"\x00\xff"
    )
    assert made == ["json"]
    assert Path("x.json").read_text(encoding="utf-8") == "json ü"
    assert Path("x.trace").read_bytes() == b"\x00\xff"
    assert not Path("x.csv").exists()
