"""The inputs of a comparison: which of them judge, and which calibrate what is quantised for it.

Also the models that are compared: the one with encodings, and the float reference.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from hexsim.accuracy.classes import Classes
from hexsim.accuracy.input_ranges import InputRanges, unsuitable
from hexsim.accuracy.reference import with_reference
from hexsim.deployment.at_load import needs_inputs
from hexsim.deployment.offline_hta import chosen
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import applied_overrides, load, load_container
from hexsim.errors import HexsimError, spelled
from hexsim.graph.ir import Network
from hexsim.inputs.source import InputRoles, InputSource, Part, items_of, part_of
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.optimizations import Bar
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides, OverrideUse
from hexsim.runtimes import Runtime


@dataclass(frozen=True)
class NamedInputs:
    """All inputs that a user names, with their right classes if they are known.

    `part` is the part of them to take; `calibration` reads the inputs that calibrate, None if a
    part of these does.
    """

    judging: InputSource
    labels: tuple[Classes, ...] | None = None
    part: Part | None = None
    calibration: Callable[[], InputSource] | None = None

    def roles(
        self,
        model: Model,
        overrides: Overrides,
        *,
        in_codes: bool,
        remark_on: Callable[[str], None],
    ) -> InputRoles:
        """Return which inputs judge `model`, and which calibrate it where it is quantised.

        That is so with `in_codes`, unless `overrides` leave nothing to calibrate. `remark_on` gets
        a sentence about inputs that do not suit the model. Raises HexsimError for inputs that are
        to calibrate a quantised model, or are split twice.
        """
        network = model.network
        if self.calibration is not None:
            require_float(model)
        roles = InputRoles(self.judging, self.labels or self.judging.classes)
        if self.part is not None:
            labels = self.labels and items_of(self.judging, self.part, self.labels)
            roles = InputRoles(part_of(self.judging, self.part), labels)
        if not roles.judging.seeded:
            ranges = InputRanges.of(model, overrides, in_codes=in_codes)
            for sentence in unsuitable(ranges, roles.judging):
                remark_on(sentence)
        if not in_codes or (self.calibration is None and not needs_inputs(model, overrides)):
            return roles
        if self.part is not None:
            raise HexsimError(
                f"{spelled('part')} goes with a quantised model; '{network.name}' is quantised "
                "here, and the inputs are split by themselves"
            )
        return roles.quantizing(network, self.calibration and self.calibration())


Dims = Mapping[str, Sequence[int]]
NO_BAR: Bar = lambda title, total: nullcontext(lambda done: None)  # noqa: E731
"""Shows no progress."""


@dataclass(frozen=True)
class ComparedModel:
    """A model, with the weights of a float model if there is one, and a text about the reference.

    `held` are the overrides of the float file, `overrides` those to apply to it. `original` is the
    float model of the file, if the reference had to be equalised. `quantizer_command` is the one
    that made a quantised file.
    """

    model: Model
    reference: str
    held: Overrides = NO_OVERRIDES
    overrides: Overrides = NO_OVERRIDES
    original: Network | None = None
    quantizer_command: str = ""

    @classmethod
    def load(
        cls,
        model: str,
        float_model: str | None = None,
        input_dims: Dims | None = None,
        override_params: bool | None = None,
    ) -> "ComparedModel":
        """Load the model, with the weights of the float model if that is given."""
        source = load_container(model, input_dims=input_dims or {})
        read = source.model
        overrides = applied_overrides(source, model, override_params=override_params)
        if not read.quantized:
            if float_model is not None:
                raise HexsimError(
                    f"{spelled('float_model')} goes with a quantised model, and '{model}' is "
                    "float; leave it out"
                )
            reference = "float reference: the model itself"
            return cls(read, reference, source.overrides, overrides)
        original = None
        if float_model is None:
            reference = "float reference: the weights that it was quantised from"
            if read.reference != "float network":
                reference = (
                    f"float reference: {read.reference}, which are rounded already; give the "
                    f"float model ({spelled('float_model')}) to see what rounding them costs"
                )
        else:
            floats = require_float(load(float_model, input_dims=input_dims or {}))
            original = floats if read.equalized else None
            how = ", equalised as the quantised file was" if read.equalized else ""
            reference = f"float reference: '{float_model}'{how}"
            read = with_reference(read, floats)
        command = source.metadata.quantizer_command
        return cls(read, reference, original=original, quantizer_command=command)

    def coded(
        self,
        platform: Platform,
        roles: InputRoles,
        runtime: Runtime,
        *,
        hta: bool = True,
        bar: Bar = NO_BAR,
    ) -> tuple[Model, str]:
        """Return the model with encodings, and a text about their source.

        A model that is quantised here is prepared for `runtime`, if the platform has it; with
        `hta` its sections for the tensor engine are compiled.
        """
        if self.model.quantized:
            seeded = roles.judging.seeded
            others = ", which suit the inputs it was calibrated on, not these" if seeded else ""
            return self.model, f"encodings of the file{others}"
        coded, how = self._calibrated(platform, roles, bar)
        if runtime == "aip" and runtime in platform.runtimes and hta:
            coded, choice = chosen(coded, platform)
            how += f"; {choice.sentence}" if choice else ""
        return coded, how

    def _calibrated(self, platform: Platform, roles: InputRoles, bar: Bar) -> tuple[Model, str]:
        """Quantise on the inputs that calibrate."""
        network, source = self.model.network, roles.calibrating
        if source is None:
            coded = platform.quantize(network, None, self.overrides)
            how = "encodings of the file, which leave nothing to calibrate"
        else:
            with bar("calibrating", source.sets) as progress:
                coded = platform.quantize(network, source.feeds(), self.overrides, progress)
            how = f"quantised with default options on {roles.calibration}"
        use = OverrideUse.of(self.held, coded.overrides)
        return coded, f"{how}{f'; {use}' if use else ''}"
