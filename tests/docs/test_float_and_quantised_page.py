"""The example of docs/concepts/float-and-quantised.md is what the command prints today."""

import re
import shlex
import sys

import pytest

from benchmarks.pages import CONCEPTS, ROOT
from hexsim.cli import main

PAGE = (CONCEPTS / "float-and-quantised.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_lines_of_the_example_are_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "examples" / "digits")
    line, table = re.findall(r"^```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[:2]
    monkeypatch.setattr(sys, "argv", shlex.split(line))
    with pytest.raises(SystemExit):
        main()
    printed = capsys.readouterr().out.splitlines()
    assert set(table.splitlines()) <= {text.rstrip() for text in printed}
