"""The shell of a page: one HTML document with its styles, scripts and data inside.

Texts of a model are never markup or code. Data is JSON in an element that no name can close, and
scripts insert it as text. A content security policy allows only the page's own scripts, by their
hashes, and no requests, so that a mistake elsewhere can neither run code nor send data.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

_HERE = Path(__file__).parent
_IN_SCRIPTS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return (_HERE / name).read_text(encoding="utf-8")


def page(
    title: str,
    body: str,
    data: Mapping[str, Any],
    styles: Sequence[str],
    script: str,
    libraries: Sequence[str] = (),
) -> str:
    """Return the document; `body` is markup, `styles` and `script` are names of assets.

    `libraries` are scripts that run before it.
    """
    scripts = (*libraries, asset(script))
    return Template(asset("shell.html")).substitute(
        title=escape(title),
        hashes=" ".join(map(_source, scripts)),
        styles="".join(map(asset, ("shell.css", *styles))),
        body=body,
        data=embedded(data),
        scripts="\n".join(f"<script>{code}</script>" for code in scripts),
    )


def _source(code: str) -> str:
    """Return the name of an inline script in the policy."""
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"


def embedded(data: Mapping[str, Any]) -> str:
    """Return `data` as JSON that neither ends a script element nor begins a comment in one."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_IN_SCRIPTS)
