"""The inputs of a comparison: which of them judge, and which calibrate what is quantised for it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy.typing as npt

from hexsim.accuracy.classes import Classes
from hexsim.accuracy.input_ranges import InputRanges, unsuitable
from hexsim.deployment.at_load import needs_inputs
from hexsim.errors import HexsimError, spelled
from hexsim.graph.input_format import PictureSteps
from hexsim.graph.ir import Network
from hexsim.inputs.seeded import EVALUATION_INPUTS, EVALUATION_SEED, seeded_calibration
from hexsim.inputs.source import GivenInputs, InputSource, listed, seeded
from hexsim.inputs.split import InputRoles, Part, items_of, part_of
from hexsim.quantization.model import Model, require_float
from hexsim.quantization.overrides import Overrides

Arrays = Mapping[str, npt.ArrayLike] | npt.ArrayLike
"""The inputs of an inference: an array, or arrays by the names of inputs."""


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
        roles = InputRoles(self.judging, self.labels)
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


def read_inputs(
    inputs: Iterable[Arrays] | GivenInputs | str | Path | None,
    network: Network,
    steps: PictureSteps | None = None,
) -> InputSource:
    """Return inputs in memory, of an input list, or of a folder of pictures; None is seeded ones.

    `steps` make inputs of pictures; without them those that the file has, if it has any.
    """
    if inputs is None:
        return seeded(seeded_calibration(network, EVALUATION_INPUTS, EVALUATION_SEED), network)
    if isinstance(inputs, GivenInputs):
        return listed(inputs, network)
    if not isinstance(inputs, str | Path):
        return listed(GivenInputs(list(inputs)), network)
    if not Path(inputs).is_dir():
        return listed(Path(inputs), network)
    from hexsim.inputs.pictures import pictures

    stored = network.input_format(network.inputs[0]).pictures
    return pictures(Path(inputs), network, steps or stored or PictureSteps())
