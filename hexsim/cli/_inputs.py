"""Options for inputs, shared by the commands that compute values."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hexsim.cli._options import (
    ChannelOrderOption,
    FitOption,
    ImagesOption,
    InputListOption,
    LabelsOption,
    MeanFileOption,
    MeanOption,
    ResizeOption,
    StdOption,
)
from hexsim.cli._say import remark
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.accuracy.labels import Classes
    from hexsim.graph.ir import Network
    from hexsim.inputs.preprocessing import Preprocessing
    from hexsim.inputs.source import InputSource


UNLABELLED = "--labels are for inputs of --input-list or --images; give both"


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

    def steps(self) -> dict[str, Any]:
        """Return the steps that are asked for; HexsimError for a text that is no number."""
        values = {field.name: getattr(self, field.name) for field in fields(Appearance)}
        given = {name: value for name, value in values.items() if value is not None}
        for name in given.keys() & {"mean", "std"}:
            given[name] = _numbers(f"--{name}", given[name])
        if 0 in given.get("std", ()):
            raise HexsimError(
                f"--std '{self.std}' would divide by zero; 1 leaves values as they are"
            )
        return given

    def preprocessing(self, network: Network | None = None) -> Preprocessing:
        """Return the steps that are asked for, and the others as the file of `network` has them.

        A line says what is taken from the file, and what the options replace there. Raises
        HexsimError for contradictions.
        """
        from hexsim.inputs.preprocessing import Preprocessing

        given = self.steps()
        name = network.inputs[0] if network is not None and len(network.inputs) == 1 else None
        stored = None if network is None or name is None else network.input_format(name).pictures
        if stored is None:
            return Preprocessing(**given)
        remark(f"INFO - how the file says pictures become inputs: {stored}")
        kept = vars(stored) | ({"mean": (0.0,)} if self.mean_file else {})
        kept |= {"resize": None} if self.fit == "stretch" else {}
        how = Preprocessing(**kept | given)
        if how.steps != stored or self.mean_file:
            remark(f"[WARNING] the options say otherwise, and are followed: {how}")
        return how


@dataclass(frozen=True)
class Inputs(Appearance):
    """A list of raw files, a folder of pictures, or neither."""

    HEADING = "Inputs"

    input_list: InputListOption = None
    images: ImagesOption = None

    @property
    def given(self) -> bool:
        """True if the user names inputs."""
        return self.input_list is not None or self.images is not None

    def source(self, network: Network) -> InputSource:
        """Return the inputs of `network`: those named, else seeded ones."""
        from hexsim.inputs.pictures import pictures
        from hexsim.inputs.seeded import EVALUATION_INPUTS, EVALUATION_SEED, seeded_calibration
        from hexsim.inputs.source import listed, seeded

        self.require_one_kind()
        if self.images is not None:
            return pictures(self.images, network, self.preprocessing(network))
        if self.input_list is not None:
            return listed(self.input_list, network)
        return seeded(seeded_calibration(network, EVALUATION_INPUTS, EVALUATION_SEED), network)

    def calibration(self, path: Path | None, network: Network) -> InputSource | None:
        """Return the inputs of `--calibration-list`: raw files of a list, or pictures of a folder.

        The pictures are prepared as those of `--images`. None without a path.
        """
        from hexsim.inputs.pictures import pictures
        from hexsim.inputs.source import listed

        if path is None:
            return None
        if path.is_dir():
            return pictures(path, network, self.preprocessing(network))
        return listed(path, network)

    def require_one_kind(self) -> None:
        """Raise HexsimError for inputs of two kinds, and for picture options without pictures."""
        given = self.steps()
        if self.input_list is not None and self.images is not None:
            raise HexsimError("inputs come from --input-list or from --images; leave one out")
        if self.images is None and given:
            raise HexsimError(
                "--mean, --mean-file, --std, --channel-order, --resize and --fit are for pictures; "
                "give a folder (--images)"
            )


@dataclass(frozen=True)
class LabelledInputs(Inputs):
    """Inputs, and the class of each if it is known."""

    HEADING = "Inputs"

    labels: LabelsOption = None

    def classes(self, source: InputSource, network: Network) -> tuple[Classes, ...] | None:
        """Return the correct classes of each input, if there is a file of labels."""
        from hexsim.accuracy.labels import read_labels

        if self.labels is None:
            return None
        if source.seeded:
            raise HexsimError(UNLABELLED)
        return read_labels(self.labels, source.items, network, source.names, source.batch)


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(word) for word in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise HexsimError(f"{option} '{text}' is not a number, or a list like 123.7,116.3,103.5")
    return numbers
