"""Options for inputs, shared by the commands that compute values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from hexsim.accuracy.labels import Classes
    from hexsim.graph.ir import Network
    from hexsim.inputs.preprocessing import Preprocessing
    from hexsim.inputs.source import InputSource


@dataclass(frozen=True)
class Appearance:
    """The preprocessing of pictures."""

    mean: MeanOption = "0"
    mean_file: MeanFileOption = None
    std: StdOption = "1"
    channel_order: ChannelOrderOption = "rgb"
    resize: ResizeOption = None
    fit: FitOption = "crop"

    def preprocessing(self) -> Preprocessing:
        """Read the numbers; raise HexsimError for a text that is none, or for contradictions."""
        from hexsim.inputs.preprocessing import Preprocessing

        stds = _numbers("--std", self.std)
        if 0 in stds:
            raise HexsimError(
                f"--std '{self.std}' would divide by zero; 1 leaves values as they are"
            )
        means = _numbers("--mean", self.mean)
        return Preprocessing(means, stds, self.channel_order, self.fit, self.resize, self.mean_file)


@dataclass(frozen=True)
class Inputs(Appearance):
    """A list of raw files, a folder of pictures, or neither."""

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
            return pictures(self.images, network, self.preprocessing())
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
            return pictures(path, network, self.preprocessing())
        return listed(path, network)

    def require_one_kind(self) -> None:
        """Raise HexsimError for inputs of two kinds, and for picture options without pictures."""
        from hexsim.inputs.preprocessing import Preprocessing

        how = self.preprocessing()
        if self.input_list is not None and self.images is not None:
            raise HexsimError("inputs come from --input-list or from --images; leave one out")
        if self.images is None and how != Preprocessing():
            raise HexsimError(
                "--mean, --mean-file, --std, --channel-order, --resize and --fit are for pictures; "
                "give a folder (--images)"
            )


@dataclass(frozen=True)
class LabelledInputs(Inputs):
    """Inputs, and the class of each if it is known."""

    labels: LabelsOption = None

    def classes(self, source: InputSource, network: Network) -> tuple[Classes, ...] | None:
        """Return the correct classes of each input, if there is a file of labels."""
        from hexsim.accuracy.labels import read_labels

        if self.labels is None:
            return None
        if source.seeded:
            raise HexsimError("--labels are for inputs of --input-list or --images; give both")
        return read_labels(self.labels, source.items, network, source.names, source.batch)


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(word) for word in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise HexsimError(f"{option} '{text}' is not a number, or a list like 123.7,116.3,103.5")
    return numbers
