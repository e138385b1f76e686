import sys

import pytest

from hexsim.cli import start


@pytest.mark.parametrize("name", ["hexsim", "snpe-net-run"])
def test_another_system_is_told(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SystemExit) as ended:
        start(name, ["--version"])
    assert ended.value.code == 2
    sentence = "hexsim runs on Linux; on Windows, use it inside WSL"
    assert capsys.readouterr().err == f"{name}: {sentence}\n"
