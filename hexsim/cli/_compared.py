"""Loads the models to compare: the model with encodings, and the float reference.

The source of each is also given in words for the report.
"""

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
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.graph.ir import Network
    from hexsim.inputs.split import InputRoles
    from hexsim.quantization.model import Model
    from hexsim.quantization.overrides import Overrides
    from hexsim.runtimes import Runtime


@dataclass(frozen=True)
class ComparedModel:
    """A model, with the weights of a float model if there is one, and a text about the reference.

    `held` are the overrides of the float file, `overrides` those to apply to it. `original` is the
    float model of the file, if the reference had to be equalised. `quantizer_command` is the one
    that made a quantised file.
    """

    model: Model
    reference: str
    held: Overrides
    overrides: Overrides
    original: Network | None = None
    quantizer_command: str = ""


@dataclass(frozen=True)
class Compared:
    """Options to read a model, to quantise it if it is float, and to choose its reference."""

    input_dim: InputDimOption = None
    float_model: FloatModelOption = None
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False

    def loaded(self, model: str) -> ComparedModel:
        """Load the model, with the weights of the float model if that is given."""
        from hexsim.accuracy.reference import with_reference
        from hexsim.dlc.loading import applied_overrides, load, load_container
        from hexsim.quantization.model import require_float
        from hexsim.quantization.overrides import NO_OVERRIDES

        dims = parse_input_dims(self.input_dim)
        source = load_container(model, input_dims=dims)
        read = source.model
        overrides = applied_overrides(source, model, asked=self.override_params)
        if not read.quantized:
            if self.float_model is not None:
                raise HexsimError(
                    f"--float goes with a quantised model, and '{model}' is float; leave it out"
                )
            return ComparedModel(
                read, "float reference: the model itself", source.overrides, overrides
            )
        original = None
        if self.float_model is None:
            reference = "float reference: the weights that it was quantised from"
            if read.reference != "float network":
                reference = (
                    f"float reference: {read.reference}, which are rounded already; give the "
                    "float model (--float) to see what rounding them costs"
                )
        else:
            floats = require_float(load(self.float_model, input_dims=dims))
            original = floats if read.equalized else None
            how = ", equalised as the quantised file was" if read.equalized else ""
            reference = f"float reference: '{self.float_model}'{how}"
            read = with_reference(read, floats)
        command = source.metadata.quantizer_command
        return ComparedModel(read, reference, NO_OVERRIDES, NO_OVERRIDES, original, command)

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

    def quantized(
        self,
        given: ComparedModel,
        platform: Platform,
        roles: InputRoles,
        runtime: Runtime,
    ) -> tuple[Model, str]:
        """Return the model with encodings, and a text about their source.

        A model that is quantised here is prepared for `runtime`, if the platform has it.
        """
        from hexsim.deployment.offline_hta import chosen

        model = given.model
        if model.quantized:
            seeded = roles.judging.seeded
            others = ", which suit the inputs it was calibrated on, not these" if seeded else ""
            return model, f"encodings of the file{others}"
        coded, how = self._calibrated(given, platform, roles)
        if runtime == "aip" and runtime in platform.runtimes and not self.no_hta:
            coded, choice = chosen(coded, platform)
            how += f"; {choice.sentence}" if choice else ""
        return coded, how

    def _calibrated(
        self,
        given: ComparedModel,
        platform: Platform,
        roles: InputRoles,
    ) -> tuple[Model, str]:
        """Quantise on the inputs that calibrate."""
        from hexsim.cli._progress import bar
        from hexsim.quantization.overrides.use import OverrideUse

        network, overrides, source = given.model.network, given.overrides, roles.calibrating
        if source is None:
            coded = platform.quantize(network, None, overrides)
            how = "encodings of the file, which leave nothing to calibrate"
        else:
            with bar("calibrating", source.sets) as progress:
                coded = platform.quantize(network, source.feeds(), overrides, progress)
            how = f"quantised with default options on {roles.calibration}"
        use = OverrideUse.of(given.held, coded.overrides)
        return coded, f"{how}{f'; {use}' if use else ''}"
