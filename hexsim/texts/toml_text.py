"""TOML, as its specification has it, with finite numbers and not too deep."""

from __future__ import annotations

import tomllib
from typing import Any

from hexsim.errors import InvalidDataError
from hexsim.texts.trees import MOST_LEVELS, require_plain


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return what `text` says; raises InvalidDataError beginning with `where`, with line or key."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidDataError(f"{where}: not valid TOML: {error}; repair it") from None
    except RecursionError:
        raise InvalidDataError(f"{where} is nested more than {MOST_LEVELS} levels deep") from None
    except (ValueError, OverflowError):  # the only one that is left: an integer's digits
        raise InvalidDataError(
            f"{where}: a number has too many digits; give a finite one"
        ) from None
    require_plain(tree, where)
    return tree
