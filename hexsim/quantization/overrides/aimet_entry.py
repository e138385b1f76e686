"""Checks that the entries of all versions of AIMET's encodings files share."""

from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from hexsim.datasheets.refusals import sentence
from hexsim.errors import HexsimError
from hexsim.quantization.overrides.override import FloatOverride

Model = TypeVar("Model", bound=BaseModel)

WIDTH = Field(ge=4, le=32)
"""Bits that AIMET allows (documented)."""


def validated(model: type[Model], tree: Any, where: str) -> Model:
    """Read one entry; raises HexsimError naming the first key that is wrong."""
    if not isinstance(tree, dict):
        raise HexsimError(f"{where}: expected an object with the keys of an encoding")
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise HexsimError(sentence(model, error, where)) from None


def says_only_float(tree: Any, width: str) -> bool:
    """Return True if an entry requests floats without the key `width`, which states their bits."""
    if not isinstance(tree, dict) or width in tree:
        return False
    return str(tree.get("dtype")).lower() == "float"


def float_override(bitwidth: int, where: str) -> FloatOverride:
    """Return the override of a tensor that stays float; raises HexsimError for other widths."""
    match bitwidth:
        case 16 | 32:
            return FloatOverride(bitwidth)
        case _:
            raise HexsimError(f"{where}: floats have 16 or 32 bits, not {bitwidth}")
