"""How to install an extra of hexsim, from where this hexsim was installed.

A checkout or a file is named by its path, because `pip install 'hexsim[report]'` would look for
another hexsim in a package index.
"""

import json
import shlex
from importlib.metadata import distributions
from pathlib import Path
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
    records = (library.read_text("direct_url.json") for library in distributions(name="hexsim"))
    origin = json.loads(next(filter(None, records), "{}"))  # of pip, by PEP 610
    url = urlsplit(origin.get("url", ""))
    if url.scheme == "file" and Path(unquote(url.path)).exists():
        return f"pip install {shlex.quote(f'{unquote(url.path)}[{extra}]')}"
    if "vcs_info" in origin:
        return f"pip install 'hexsim[{extra}] @ {origin['vcs_info']['vcs']}+{url.geturl()}'"
    return f"pip install 'hexsim[{extra}]'"
