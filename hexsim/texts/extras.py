"""How to install an extra of hexsim, from where this hexsim was installed.

A checkout or a file is named by its path, because `pip install 'hexsim[report]'` would look for
another hexsim in a package index.
"""

from __future__ import annotations

import json
import shlex
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from hexsim.errors import HexsimError

_ROOT = Path(__file__).resolve().parents[2]
"""The folder that has the package: a checkout, or a folder of installed packages."""


def missing(needs: str, extra: str) -> HexsimError:
    """Return the error for a package that is not installed; `needs` says what needs which one."""
    return HexsimError(f"{needs}; {install(extra)}")


def install(extra: str) -> str:
    """Return the command that installs what `extra` of hexsim names."""
    if (_ROOT / "pyproject.toml").is_file():
        return f"pip install -e {shlex.quote(f'{_ROOT}[{extra}]')}"
    origin = _origin()
    url = str(origin.get("url", ""))
    path = unquote(urlsplit(url).path)
    if url.startswith("file:") and Path(path).exists():
        return f"pip install {shlex.quote(f'{path}[{extra}]')}"
    if "vcs_info" in origin:
        return f"pip install 'hexsim[{extra}] @ {origin['vcs_info']['vcs']}+{url}'"
    return f"pip install 'hexsim[{extra}]'"


def _origin() -> dict[str, Any]:
    """Return what pip recorded about the source of hexsim (PEP 610); empty for a package index."""
    for found in distributions(name="hexsim"):
        if recorded := found.read_text("direct_url.json"):
            return dict(json.loads(recorded))
    return {}
