"""Options for inputs, shared by the commands that compute values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hexsim.cli._options import (
    CalibrationListOption,
    ChannelOrderOption,
    FitOption,
    ImagesOption,
    InputListOption,
    LabelsOption,
    MeanFileOption,
    MeanOption,
    PartOption,
    ResizeOption,
    StdOption,
)
from hexsim.cli._say import remark
from hexsim.errors import HexsimError
from hexsim.runtimes import FIXED_POINT

if TYPE_CHECKING:
    from hexsim.accuracy.classes import Classes
    from hexsim.accuracy.input_ranges import InputRanges
    from hexsim.graph.ir import Network
    from hexsim.graph.network_ends import PictureSteps
    from hexsim.inputs.source import InputRoles, InputSource
    from hexsim.quantization.model import Model
    from hexsim.quantization.overrides import Overrides
    from hexsim.runtimes import Runtime


UNLABELLED = "--labels are for inputs of --input-list or --images; give both"
UNJUDGED = (
    "--calibration-list calibrates for a comparison on --input-list or --images; give one of them"
)


@dataclass(frozen=True)
class Appearance:
    """The preprocessing of pictures."""

    HEADING = "Pictures"

    mean: MeanOption = None
    mean_file: MeanFileOption = None
    std: StdOption = None
    channel_order: ChannelOrderOption = None
    resize: ResizeOption = None
    fit: FitOption = None

    @property
    def has_steps(self) -> bool:
        """True if the user names a step."""
        return any(getattr(self, field.name) is not None for field in fields(Appearance))

    def steps(self) -> dict[str, Any]:
        """Return the steps that are asked for, by the fields of `PictureSteps`.

        Raises HexsimError for a text that is no number, and two means.
        """
        values = {field.name: getattr(self, field.name) for field in fields(Appearance)}
        steps = {name: value for name, value in values.items() if value is not None}
        for name in steps.keys() & {"mean", "std"}:
            steps[name] = _numbers(f"--{name}", steps[name])
        if 0 in steps.get("std", ()):
            raise HexsimError(
                f"--std '{self.std}' would divide by zero; 1 leaves values as they are"
            )
        if self.mean_file is not None:
            from hexsim.inputs.preprocessing import mean_image

            if steps.get("mean", (0.0,)) != (0.0,):
                raise HexsimError("a mean is a number (--mean) or an image (--mean-file); give one")
            steps |= {"mean": (0.0,), "mean_image": mean_image(steps.pop("mean_file"))}
        return steps

    def preprocessing(self, network: Network | None = None) -> PictureSteps:
        """Return the steps that are asked for, and the others as the file of `network` has them.

        A line says what is taken from the file, and what the options replace there. Raises
        HexsimError for contradictions.
        """
        from hexsim.graph.network_ends import PictureSteps

        steps = self.steps()
        name = network.inputs[0] if network is not None and len(network.inputs) == 1 else None
        stored = None if network is None or name is None else network.input_format(name).pictures
        how = PictureSteps.of(stored, steps)
        if stored is not None:
            remark(f"INFO - how the file says pictures become inputs: {stored}")
        if stored not in (None, how):
            remark(f"[WARNING] the options say otherwise, and are followed: {how}")
        return how


@dataclass(frozen=True)
class Inputs(Appearance):
    """A list of raw files, a folder of pictures, or neither."""

    HEADING = "Inputs"

    input_list: InputListOption = None
    images: ImagesOption = None
    part: PartOption = None

    @property
    def has_inputs(self) -> bool:
        """True if the user names inputs."""
        return self.input_list is not None or self.images is not None

    def source(self, network: Network) -> InputSource:
        """Return the inputs of `network`: those named, or the part of them, else seeded ones."""
        from hexsim.inputs.source import part_of

        whole = self.whole(network)
        return whole if self.part is None else part_of(whole, self.part)

    def whole(self, network: Network) -> InputSource:
        """Return all inputs of `network` that are named, else seeded ones."""
        from hexsim.inputs.input_sets import read_inputs
        from hexsim.inputs.pictures import pictures
        from hexsim.inputs.source import listed

        self.require_one_kind()
        if self.images is not None:
            return pictures(self.images, network, self.preprocessing(network))
        if self.input_list is not None:
            return listed(self.input_list, network)
        return read_inputs(None, network)

    def require_one_kind(self) -> None:
        """Raise HexsimError for inputs of two kinds, and for picture options without pictures."""
        if self.input_list is not None and self.images is not None:
            raise HexsimError("inputs come from --input-list or from --images; leave one out")
        if self.images is None and self.has_steps:
            raise HexsimError(
                "--mean, --mean-file, --std, --channel-order, --resize and --fit are for pictures; "
                "give a folder (--images)"
            )
        if self.part is not None and not self.has_inputs:
            raise HexsimError("--part is of --input-list or --images; give one of them")


@dataclass(frozen=True)
class JudgingInputs(Inputs):
    """Inputs that judge a network; unless others calibrate it, some of them do that instead."""

    HEADING = "Inputs"

    calibration_list: CalibrationListOption = None

    def roles(
        self, model: Model, runtimes: Iterable[Runtime], overrides: Overrides | None = None
    ) -> InputRoles:
        """Return the inputs, split if `model` is quantised for a runtime and no others are named.

        They are not split if the `overrides` that are applied then leave nothing to calibrate.
        Raises HexsimError for inputs that are to calibrate a quantised model, or are split twice.
        """
        from hexsim.quantization.overrides import NO_OVERRIDES
        from hexsim.studies.judging import NamedInputs

        network, calibration = model.network, None
        if self.calibration_list is not None:
            calibration = partial(self._calibration, self.calibration_list, network)
        named = NamedInputs(self.whole(network), self.classes(network), self.part, calibration)
        return named.roles(
            model,
            overrides or NO_OVERRIDES,
            in_codes=not FIXED_POINT.isdisjoint(runtimes),
            remark_on=lambda line: remark(f"[WARNING] {line}"),
        )

    def classes(self, network: Network) -> tuple[Classes, ...] | None:
        """Return the correct classes of each input; None if they are unknown."""
        return None

    def calibrated_too(self, quantizer_command: str) -> str:
        """Return a remark if a file was quantised on inputs of the same name, else nothing."""
        named = {"images": self.images, "input_list": self.input_list}
        words = (f" {key}={path.name} " for key, path in named.items() if isinstance(path, Path))
        is_part = self.part == "judge" and "part=calibrate" in quantizer_command.split()
        if is_part or not any(word in f"{quantizer_command} " for word in words):
            return ""
        return (
            ", calibrated on inputs of this name, which flatters: quantise with --part calibrate "
            "and judge with --part judge"
        )

    def _calibration(self, path: Path, network: Network) -> InputSource:
        """Return the raw files, or the pictures (prepared as those of `--images`) of a path."""
        from hexsim.inputs.input_sets import read_inputs
        from hexsim.inputs.pictures import pictures

        if path.is_dir():
            return pictures(path, network, self.preprocessing(network))
        return read_inputs(path, network)


@dataclass(frozen=True)
class LabelledInputs(JudgingInputs):
    """Inputs that judge, and the class of each if it is known."""

    HEADING = "Inputs"

    labels: LabelsOption = None

    def classes(self, network: Network) -> tuple[Classes, ...] | None:
        """Return the correct classes of each input, if there is a file of labels."""
        from hexsim.accuracy.classes import read_labels

        if self.labels is None:
            return None
        source = self.whole(network)
        if source.seeded:
            raise HexsimError(UNLABELLED)
        return read_labels(self.labels, source.items, network, source.names, source.batch)


def remark_unsuitable(source: InputSource, ranges: InputRanges) -> None:
    """Say which inputs of `source` do not suit the ranges of their codes; seeded ones always do."""
    from hexsim.accuracy.input_ranges import unsuitable

    for line in () if source.seeded else unsuitable(ranges, source):
        remark(f"[WARNING] {line}")


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(word) for word in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise HexsimError(f"{option} '{text}' is not a number, or a list like 123.7,116.3,103.5")
    return numbers
