"""The inputs of a comparison: which of them judge, and which calibrate what is quantised for it.

Also the models that are compared: the one with encodings, and the float reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from hexsim.deployment.at_load import needs_inputs
from hexsim.deployment.offline_hta import chosen
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import applied_overrides, load, load_container
from hexsim.errors import HexsimError, counting, spelled, warn_caller
from hexsim.graph.ir import Network
from hexsim.inputs.input_sets import InputSets, Pictures, read_inputs
from hexsim.inputs.source import InputRoles, InputSource, Part, items_of, part_of
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides, OverrideUse
from hexsim.records import dataclass
from hexsim.runtimes import FIXED_POINT, Runtime

if TYPE_CHECKING:
    from hexsim.accuracy.classes import Classes


class Judging(TypedDict, total=False):
    """The inputs that judge, what they are, and those that calibrate.

    `inputs` are arrays, mappings by input name, the path of an input list, or of a folder of
    pictures, or `hexsim.pictures`; by default seeded ones. `part` takes every second of the inputs.
    `labels` has the right class of each, or several, or is a file of them. `calibration` (as
    `inputs`) calibrates a model that is quantised here; without it every second input does.
    """

    inputs: InputSets | None
    part: Part | None
    labels: Sequence[int | Sequence[int]] | str | Path | None
    calibration: InputSets | None


def require_inputs(how: Mapping[str, Any], *others: str) -> bool:
    """Return whether inputs are given; HexsimError for a setting that means nothing without them.

    `others` are more such settings than labels and part.
    """
    if how.get("inputs") is not None:
        return True
    alone = [name for name in ("labels", "part", *others) if how.get(name) is not None]
    if alone:
        raise HexsimError(
            f"{spelled(alone[0])} goes with inputs, which judge the answers; give both"
        )
    return False


def roles_of(
    how: Mapping[str, Any], model: Model, overrides: Overrides, runtimes: Iterable[Runtime]
) -> InputRoles:
    """Return which inputs of the `Judging` in `how` judge, and which calibrate what is quantised.

    None calibrate if no runtime is in fixed point, or if `overrides` leave nothing to calibrate.
    Raises HexsimError for inputs that are to calibrate a quantised model, or are split twice.
    """
    settings, network = cast(Judging, how), model.network
    require_inputs(how)
    given, calibration = settings.get("inputs"), settings.get("calibration")
    judging, part = read_inputs(given, network), settings.get("part")
    classes = _classes(settings.get("labels"), judging, network)
    roles = InputRoles(judging, classes or judging.classes)
    if calibration is not None:
        require_float(model)
    if part is not None:
        labels = classes and items_of(judging, part, classes)
        roles = InputRoles(part_of(judging, part), labels)
    in_codes = not FIXED_POINT.isdisjoint(runtimes)
    if not judging.seeded:
        from hexsim.accuracy.input_ranges import InputRanges, unsuitable

        ranges = InputRanges.of(model, overrides, in_codes=in_codes)
        for sentence in unsuitable(ranges, roles.judging):
            warn_caller(sentence)
    if not in_codes or (calibration is None and not needs_inputs(model, overrides)):
        return roles
    if part is not None:
        raise HexsimError(
            f"{spelled('part')} goes with a quantised model; '{network.name}' is quantised here, "
            "and the inputs are split by themselves"
        )
    return roles.quantizing(
        network, None if calibration is None else read_inputs(calibration, network)
    )


def _classes(
    labels: Sequence[int | Sequence[int]] | str | Path | None, source: InputSource, network: Network
) -> tuple[Classes, ...] | None:
    """Return the right classes of each input, from a file or as they are given."""
    if labels is None:
        return None
    if isinstance(labels, str | Path):
        from hexsim.accuracy.classes import read_labels

        return read_labels(Path(labels), source.items, network, source.names, source.batch)
    classes = tuple(
        (int(label),) if isinstance(label, int) else tuple(map(int, label)) for label in labels
    )
    if len(classes) != source.items:
        raise HexsimError(f"{len(classes)} labels for {source.items} inputs; give one for each")
    return classes


def calibrated_too(how: Mapping[str, Any], quantizer_command: str) -> str:
    """Return a remark if a file was quantised on inputs of the same name, else nothing."""
    inputs = how.get("inputs")
    path = inputs.folder if isinstance(inputs, Pictures) else inputs
    if not isinstance(path, str | Path):
        return ""
    word = f" {'images' if Path(path).is_dir() else 'input_list'}={Path(path).name} "
    is_part = how.get("part") == "judge" and "part=calibrate" in quantizer_command.split()
    if is_part or word not in f"{quantizer_command} ":
        return ""
    return (
        f", calibrated on inputs of this name, which flatters: quantise with "
        f"{spelled('part', 'calibrate')} and judge with {spelled('part', 'judge')}"
    )


Dims = Mapping[str, Sequence[int]]


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
    ) -> ComparedModel:
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
            from hexsim.accuracy.reference import with_reference

            floats = require_float(load(float_model, input_dims=input_dims or {}))
            original = floats if read.equalized else None
            how = ", equalised as the quantised file was" if read.equalized else ""
            reference = f"float reference: '{float_model}'{how}"
            read = with_reference(read, floats)
        command = source.metadata.quantizer_command
        return cls(read, reference, original=original, quantizer_command=command)

    def coded(
        self, platform: Platform, roles: InputRoles, runtime: Runtime, *, hta: bool = True
    ) -> tuple[Model, str]:
        """Return the model with encodings, and a text about their source.

        A model that is quantised here is prepared for `runtime`, if the platform has it; with
        `hta` its sections for the tensor engine are compiled.
        """
        if self.model.quantized:
            seeded = roles.judging.seeded
            others = ", which suit the inputs it was calibrated on, not these" if seeded else ""
            return self.model, f"encodings of the file{others}"
        coded, how = self._calibrated(platform, roles)
        if runtime == "aip" and runtime in platform.runtimes and hta:
            coded, choice = chosen(coded, platform)
            how += f"; {choice.sentence}" if choice else ""
        return coded, how

    def _calibrated(self, platform: Platform, roles: InputRoles) -> tuple[Model, str]:
        network, source = self.model.network, roles.calibrating
        if source is None:
            coded = platform.quantize(network, None, self.overrides)
            how = "encodings of the file, which leave nothing to calibrate"
        else:
            with counting("calibrating", source.sets) as progress:
                coded = platform.quantize(network, source.feeds(), self.overrides, progress)
            how = f"quantised with default options on {roles.calibration}"
        use = OverrideUse.of(self.held, coded.overrides)
        return coded, f"{how}{f'; {use}' if use else ''}"
