"""Options that choose the models to compare: the model with encodings, and the float reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hexsim.cli._options import (
    FloatModelOption,
    InputDimOption,
    NoHtaOption,
    OverrideParamsOption,
    parse_input_dims,
)

if TYPE_CHECKING:
    from hexsim.graph.ir import Network
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

    def both(self, model: str) -> tuple[Network | None, ComparedModel]:
        """Return the float network, if there is one, and the model that is or will be quantised."""
        from hexsim.dlc.loading import load

        given = self.loaded(model)
        if not given.model.quantized:
            return given.model.network, given
        floats = None if self.float_model is None else given.original or given.model.network
        coded = load(model, input_dims=parse_input_dims(self.input_dim))
        reference = given.reference
        if given.original is not None:
            reference = f"float reference: '{self.float_model}' as it is, before equalisation"
        return floats, replace(given, model=coded, reference=reference)
