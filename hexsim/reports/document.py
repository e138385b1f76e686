"""JSON documents of results: attributes by name, units in the keys, the version of hexsim first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from operator import attrgetter
from typing import Any

from hexsim import __version__
from hexsim.timing.simtime import PS_PER_US


def json_document(facts: Mapping[str, Any], *, indent: int = 1) -> str:
    """Return `facts` as JSON; raise ValueError for a number that is not finite."""
    return json.dumps(facts, indent=indent, allow_nan=False) + "\n"


def versioned(**facts: Any) -> dict[str, Any]:
    """Return `facts` with the version of hexsim first."""
    return {"hexsim_version": __version__, **facts}


def attributes(source: object, *names: str, **paths: str) -> dict[str, Any]:
    """Return attributes of `source`: those of `names` under their own name, then those of `paths`.

    A path may be dotted (`layer.name`). Picoseconds (`..._ps`) under a key in microseconds
    (`..._us`) are converted, and a dataclass becomes a dict. Raise AttributeError if one is absent.
    """
    return {key: _value(source, key, path) for key, path in {**dict(zip(names, names)), **paths}.items()}


def _value(source: object, key: str, path: str) -> Any:
    value = attrgetter(path)(source)
    if path.endswith("_ps") and key.endswith("_us"):
        return value / PS_PER_US
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
