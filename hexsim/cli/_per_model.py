"""Options that hold for all models of a command, or have a value for each."""

from __future__ import annotations

from hexsim.errors import HexsimError


def per_model(option: str, text: str, models: int) -> list[str]:
    """Read comma separated values of `option`: one for all models or one for each, in order."""
    values = [value.strip() for value in text.split(",")]
    if len(values) == 1:
        values *= models
    if len(values) != models or not all(values):
        raise HexsimError(
            f"{option} '{text}' is neither one value for all networks nor one for each of {models}"
        )
    return values
