"""Results as data for JSON: attributes under their names, with units in the keys."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from hexsim import __version__
from hexsim.timing.simtime import PS_PER_US

if TYPE_CHECKING:
    from hexsim.deployment.platform import Anchor


def json_document(facts: Mapping[str, Any], *, indent: int = 1) -> str:
    """Return `facts` as a JSON document with the version of hexsim first."""
    document = {"hexsim_version": __version__, **facts}
    return json.dumps(plain(document), indent=indent, allow_nan=False) + "\n"


def attributes(source: object, *names: str, **paths: str) -> dict[str, Any]:
    """Return attributes of `source` as data: `names` under their own names, then `paths` by key.

    A path may be dotted: `network="plan.network.name"`. Picoseconds (`..._ps`) become microseconds
    under a key that says so (`..._us`). Raise AttributeError for an unknown name.
    """
    return {
        key: plain(attrgetter(path)(source), is_ps=path.endswith("_ps") and key.endswith("_us"))
        for key, path in {**{name: name for name in names}, **paths}.items()
    }


def plain(value: Any, *, is_ps: bool = False) -> Any:
    """Return dataclasses as dicts, tuples as lists, and numbers that are not finite as None.

    With `is_ps`, numbers are picoseconds and become microseconds.
    """
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(item, is_ps=is_ps) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, is_ps=is_ps) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no infinity
    return value / PS_PER_US if is_ps else value


def anchor_facts(anchor: Anchor | None) -> dict[str, Any]:
    """Return the option, its own error with its causes, as shares, and the factors of a profile.

    Each is None without an anchor.
    """
    if anchor is None:
        return {"anchor": None, "anchor_error": None, "anchor_classes": None}
    causes = {name: cause.model_dump(exclude_none=True) for name, cause in anchor.causes.items()}
    return {
        "anchor": str(anchor),
        "anchor_error": {"share": anchor.error, "causes": causes},
        "anchor_classes": getattr(anchor, "classes", None),
    }
