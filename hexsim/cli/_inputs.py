"""Options for inputs, shared by the commands that compute values, and what is said of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from hexsim.cli._files import CALIBRATION, FILE
from hexsim.cli._options import FitOption, ImagesOption, InputListOption, ResizeOption
from hexsim.cli._say import log
from hexsim.cli._signature import Keywords
from hexsim.errors import HexsimError
from hexsim.records import dataclass, fields

if TYPE_CHECKING:
    from hexsim.accuracy.input_ranges import InputRanges
    from hexsim.deployment import Deployment
    from hexsim.graph.ir import Network
    from hexsim.graph.network_ends import PictureSteps
    from hexsim.inputs.source import InputSource
    from hexsim.quantization.overrides import Overrides


@dataclass(frozen=True)
class Appearance(Keywords):
    """The preprocessing of pictures."""

    HEADING = "Pictures"

    mean: Annotated[
        str | None,
        "Pictures: subtracted from each byte; one value, or one per channel; default, as "
        "for the options below: what the model's file stores, else 0.",
    ] = None
    mean_file: Annotated[
        Path | None,
        "Pictures: an .npy file, channels x height x width, whose upper left part is "
        "subtracted instead of --mean.",
        FILE,
    ] = None
    std: Annotated[
        str | None, "Pictures: divisor after --mean; one value, or one per channel; default: 1."
    ] = None
    channel_order: Annotated[
        Literal["rgb", "bgr"] | None, "Pictures: order of the channels; default: rgb."
    ] = None
    resize: ResizeOption = None
    fit: FitOption = None

    @property
    def has_steps(self) -> bool:
        """True if the user names a step."""
        return any(getattr(self, field.name) is not None for field in fields(Appearance))

    def steps(self) -> dict[str, Any]:
        """Return the steps that are asked for, as `hexsim.inputs.input_sets.Pictures` takes them.

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
        if self.mean_file is not None and steps.pop("mean", (0.0,)) != (0.0,):
            raise HexsimError("a mean is a number (--mean) or an image (--mean-file); give one")
        return steps

    def preprocessing(self, network: Network | None = None) -> PictureSteps:
        """Return the steps that are asked for, and the others as the file of `network` has them."""
        from hexsim.inputs.input_sets import picture_steps

        return picture_steps(self.steps(), network)


@dataclass(frozen=True)
class Inputs(Appearance):
    """A list of raw files, a folder of pictures, or neither."""

    HEADING = "Inputs"

    input_list: InputListOption = None
    images: ImagesOption = None
    part: Annotated[
        Literal["calibrate", "judge"] | None,
        "Take every second inference only: calibrate, from the first on, or judge, from "
        "the second on. A list that does both is split so by itself.",
    ] = None

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

        return read_inputs(self.keywords()["inputs"], network)

    def keywords(self) -> dict[str, Any]:
        """Return inputs, with the steps from pictures to them, and the other options as they are.

        Raises HexsimError for inputs of two kinds, and for picture options without pictures.
        """
        from hexsim.inputs.input_sets import Pictures

        self.require_one_kind()
        pictures = {field.name for field in fields(Appearance)} | {"images", "input_list"}
        others = {name: value for name, value in vars(self).items() if name not in pictures}
        if self.images is None:
            return {"inputs": self.input_list, **others}
        return {"inputs": Pictures(self.images, self.steps()), **others}

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

    calibration: Annotated[
        Path | None,
        "Inputs to quantise a float model with: a list of raw files, or a folder of "
        "pictures; default: every second one of the inputs, and the others judge.",
        CALIBRATION,
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the inputs that judge, and those that calibrate."""
        from hexsim.inputs.input_sets import Pictures

        given = super().keywords()
        if self.calibration is not None and self.calibration.is_dir():
            given["calibration"] = Pictures(self.calibration, self.steps())
        return given


@dataclass(frozen=True)
class LabelledInputs(JudgingInputs):
    """Inputs that judge, and the class of each if it is known."""

    labels: Annotated[
        Path | None, "Class of each input, one per line; or with --images NAME CLASS.", FILE
    ] = None


def remark_unsuitable(source: InputSource, ranges: InputRanges) -> None:
    """Say which inputs of `source` do not suit the ranges of their codes; seeded ones always do."""
    from hexsim.accuracy.input_ranges import unsuitable

    for line in () if source.seeded else unsuitable(ranges, source):
        log("WARNING", line)


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(word) for word in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise HexsimError(f"{option} '{text}' is not a number, or a list like 123.7,116.3,103.5")
    return numbers


def remark_run(
    deployment: Deployment, source: InputSource, held: Overrides, *, native: bool = False
) -> None:
    """Say which inputs of `source` do not suit the model, and how a float one is quantised at load.

    `held` are the overrides of its file. `native` inputs are codes already, if there are any.
    """
    from hexsim.accuracy.input_ranges import InputRanges
    from hexsim.api.parameters import tell_overrides
    from hexsim.deployment.at_load import MOST_INPUTS
    from hexsim.quantization.overrides import OverrideUse

    if not native:
        remark_unsuitable(source, InputRanges.on(deployment))
    if not deployment.quantizes:
        return
    if deployment.calibrates:
        sets = min(source.sets, MOST_INPUTS)
        which = f"the {'seeded ' * source.seeded}inputs that are run"
        first = f" (the first {sets} of {source.sets})" if sets < source.sets else ""
        names = deployment.uncalibrated
        of = f", of which the file has no encoding for {len(names)} tensors" if names else ""
        log(
            "INFO",
            f"{deployment.model.name} is quantised at load, with ranges of {which}{first}"
            f"{of}; for fixed ranges quantise it first",
        )
    tell_overrides(deployment.model.name, OverrideUse.of(held, deployment.overrides))
    for note in deployment.loaded.notes:
        log("INFO", note)


def print_losses(
    deployment: Deployment, perf_profile: str | None = None, *, at_load: bool = False
) -> None:
    """Print a line per loss of a deployment; the parameters are those of `findings_of`."""
    from hexsim.api.parameters import warn_of
    from hexsim.deployment.findings import findings_of

    losses = findings_of(deployment, perf_profile, at_load=at_load)
    warn_of((deployment.network.name, losses))
