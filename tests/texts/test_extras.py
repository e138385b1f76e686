"""What a message says to install fits where this hexsim came from; the extras exist."""

import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from hexsim.texts import extras
from tests.imports import CHECKOUT

EXTRAS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]
FOR_DEVELOPERS = {"dev", "docs"}


def test_a_checkout_is_named_by_its_path() -> None:
    assert extras.install("report") == f"pip install -e '{CHECKOUT}[report]'"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'hexsim[sweep]'"),
        ({"url": "file:///no/such/folder"}, "pip install 'hexsim[sweep]'"),
        ({"url": "file://{here}/my%20copy"}, "pip install '{here}/my copy[sweep]'"),
        (
            {"url": "https://example.org/h.git", "vcs_info": {"vcs": "git"}},
            "pip install 'hexsim[sweep] @ git+https://example.org/h.git'",
        ),
    ],
)
def test_an_installed_package_is_named_by_its_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, origin: dict[str, object], command: str
) -> None:
    (tmp_path / "my copy").mkdir()
    text = json.dumps(origin).replace("{here}", str(tmp_path)) if origin else None
    installed = SimpleNamespace(read_text=lambda name: text)
    monkeypatch.setattr(extras, "distributions", lambda name: [installed])
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    assert extras.install("sweep") == command.replace("{here}", str(tmp_path))


def test_the_readme_names_every_extra_and_messages_name_no_others() -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `\[?(\w+)\]?` \|", readme, re.MULTILINE)
    assert set(listed) == EXTRAS.keys() - FOR_DEVELOPERS
    sources = "".join(
        file.read_text(encoding="utf-8") for file in (CHECKOUT / "hexsim").rglob("*.py")
    )
    named = set(re.findall(r'missing\(.*"(\w+)"\) from None', sources))
    assert named == {"notebook", "detection", "images", "report", "sweep"}
