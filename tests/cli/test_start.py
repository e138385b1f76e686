import sys

import pytest

from hexsim.cli import main
from hexsim.snpe import main as snpe_main


@pytest.mark.parametrize("name", ["hexsim", "snpe-net-run"])
def test_another_system_is_told(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(sys, "argv", [name, "--version"])
    with pytest.raises(SystemExit) as ended:
        (main if name == "hexsim" else snpe_main)()
    assert ended.value.code == 2
    sentence = "hexsim runs on Linux; on Windows, use it inside WSL"
    assert capsys.readouterr().err == f"{name}: {sentence}\n"
