"""JSON, strictly: no key twice, no NaN, no number beyond those of a computer, not too deep."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hexsim.errors import InvalidDataError
from hexsim.texts.trees import MOST_LEVELS, require_plain, whole_number


def parse_json(text: str, where: str) -> Any:
    """Return what `text` says; raises InvalidDataError beginning with `where`, with line or key."""

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):  # `json` itself would keep the last and say nothing
            counts = Counter(name for name, _ in pairs)
            twice = next(name for name, count in counts.items() if count > 1)
            raise InvalidDataError(f"{where}: key '{twice}' is there twice; keep one of them")
        return found

    try:
        tree = json.loads(text, object_pairs_hook=collect, parse_int=whole_number)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at").removesuffix(" starting")
        raise InvalidDataError(f"{where}, line {error.lineno}: {what}; repair the JSON") from None
    except RecursionError:
        raise InvalidDataError(f"{where} is nested more than {MOST_LEVELS} levels deep") from None
    require_plain(tree, where)
    return tree
