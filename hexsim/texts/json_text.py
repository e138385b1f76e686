"""A strict reader of JSON: no duplicate keys, no NaN, no huge numbers, limited depth.

Texts are usually names, and special characters in them become visible (hexsim.texts.names).
"""

import json
from collections import Counter
from typing import Any

from hexsim.errors import InvalidDataError
from hexsim.texts.names import visible
from hexsim.texts.trees import (
    MOST_LEVELS,
    require_plain,
    require_small,
    whole_number,
    with_visible_texts,
)


def parse_json(text: str, where: str, *, as_written: bool = False) -> Any:
    """Return the parsed `text`; its texts become visible, unless `as_written` (for file names).

    Raises InvalidDataError beginning with `where`, with line or key.
    """
    require_small(text, where)

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if not as_written:
            pairs = [(visible(name), value) for name, value in pairs]
        collected = dict(pairs)
        if len(collected) < len(pairs):  # `json` itself would keep the last and say nothing
            counts = Counter(name for name, _ in pairs)
            duplicate = next(name for name, count in counts.items() if count > 1)
            raise InvalidDataError(f"{where}: key '{duplicate}' is there twice; keep one of them")
        return collected

    try:
        tree = json.loads(text, object_pairs_hook=collect, parse_int=whole_number)
    except json.JSONDecodeError as error:
        fault = error.msg.removesuffix(" at").removesuffix(" starting")
        raise InvalidDataError(f"{where}, line {error.lineno}: {fault}; repair the JSON") from None
    except RecursionError:
        raise InvalidDataError(f"{where} is nested more than {MOST_LEVELS} levels deep") from None
    require_plain(tree, where)
    return tree if as_written else with_visible_texts(tree)
