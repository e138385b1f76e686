"""The log of a run: what is written is read again, and nothing else is."""

from pathlib import Path

import pytest

from hexsim.errors import HexsimError
from hexsim.snpe.diag_log import DiagRow, DiagRun, diag_csv, diag_log, diag_rows, read_diag_log
from tests.accuracy import culprits
from tests.deployed import deployed

RUN = DiagRun("n", "sd835", "snpe-1.23", "dsp", "burst", "detailed", 7)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    deployment = deployed(culprits.quantized(), "dsp")
    timing = deployment.simulate()
    rows = diag_rows(RUN, deployment.plan, timing)
    (tmp_path / "log").write_text(diag_log(RUN, rows))
    head, again = read_diag_log(tmp_path / "log")
    assert again == rows
    assert (head["version"], head["chip"], head["inferences"]) == (1, "sd835", 7)
    assert sum(row.ps for row in rows if row.block == "layer") == sum(
        layer.duration_ps for layer in timing.layers
    )


def test_half_a_microsecond_is_rounded_up() -> None:
    assert '"us": 2' in diag_log(RUN, [DiagRow("init", "Load", 1_500_000, 2)])


def test_a_spreadsheet_computes_nothing() -> None:
    assert "'=1+1" in diag_csv([DiagRow("layer", "=1+1", 0, 0, 1, "data", "CPU")])


HEAD = '{"format": "hexsim diag", "version": 1}'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no log of this hexsim"),
        ("{}", "is no log of this hexsim"),
        ("[]", "is no log of this hexsim"),
        (HEAD.replace("1", "2"), "is no log of this hexsim"),
        ("{", "line 1"),
        (f"{HEAD}\n3", "holds lines that are no rows"),
        (f"{HEAD}\n{{}}", "holds lines that are no rows"),
        (f'{HEAD}\n{{"block": "init", "name": "Load", "ps": 1}}', "are no rows"),
        (f'{HEAD}\n{{"block": "init", "name": 3, "ps": 1, "us": 1}}', "are no rows"),
        (f'{HEAD}\n{{"block": "init", "name": "Load", "ps": 1.5, "us": 1}}', "are no rows"),
        (f'{HEAD}\n{{"block": "init", "name": "Load", "ps": 1, "us": 1, "x": 1}}', "are no rows"),
        (f'{HEAD}\n{{"block": "layer", "name": "a", "ps": 1, "us": 1}}', "are no rows"),
        (f'{HEAD}\n{{"block": [], "name": "a", "ps": 1, "us": 1}}', "are no rows"),
    ],
)
def test_nothing_else_is_read(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(HexsimError) as refused:
        read_diag_log(tmp_path / "log")
    assert sentence in str(refused.value)
    assert "SNPEDiag_0.log" in str(refused.value)


def test_a_binary_log_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(bytes(range(256)))
    with pytest.raises(HexsimError, match=r"SNPEDiag_0\.log"):
        read_diag_log(tmp_path / "log")
    with pytest.raises(HexsimError):
        read_diag_log(tmp_path / "none")
