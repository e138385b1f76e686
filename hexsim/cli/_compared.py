"""Options that choose the models to compare: the model with encodings, and the float reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hexsim.cli._options import (
    FloatModelOption,
    InputDimOption,
    NoHtaOption,
    OverrideParamsOption,
    parse_input_dims,
)

if TYPE_CHECKING:
    from hexsim.studies.compared import ComparedModel


@dataclass(frozen=True)
class Compared:
    """Options to read a model, to quantise it if it is float, and to choose its reference."""

    input_dim: InputDimOption = None
    float_model: FloatModelOption = None
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False

    def loaded(self, model: str) -> ComparedModel:
        """Load the model, with the weights of the float model if that is given."""
        from hexsim.studies.compared import ComparedModel

        dims = parse_input_dims(self.input_dim)
        return ComparedModel.load(model, self.float_model, dims, self.override_params)
