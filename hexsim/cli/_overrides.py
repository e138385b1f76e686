"""Says on stderr what was done at load, what a model loses, and what became of overrides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.cli._inputs import remark_unsuitable
from hexsim.cli._say import log

if TYPE_CHECKING:
    from hexsim.deployment import Deployment
    from hexsim.inputs.source import InputSource
    from hexsim.quantization.overrides import Overrides


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
