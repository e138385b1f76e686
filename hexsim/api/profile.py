"""`hexsim.profile`: one inference, layer by layer."""

from pathlib import Path
from typing import Unpack

from hexsim.api.parameters import known_runtime, source_name, tell_overrides, warn_of
from hexsim.errors import keywords_checked
from hexsim.quantization.model import Model
from hexsim.results.benchmark import Inference
from hexsim.runtimes import Runtime
from hexsim.studies.benchmark import BenchmarkConditions, run_case
from hexsim.studies.conditions import Settings, platforms_of
from hexsim.studies.uncertainty import Scope


@keywords_checked
def profile(
    model: Model | str | Path,
    chip: str | Path = "sd835",
    runtime: Runtime = "dsp",
    *,
    uncertainty: bool = False,
    recorded: bool = False,
    **how: Unpack[Settings],
) -> Inference:
    """Simulate one inference layer by layer, as `hexsim profile` does; no values are computed.

    `uncertainty` changes assumed and calibrated constants one at a time, and lists their effects.
    A `recorded` timeline has the hardware threads and vector contexts too. `how` are the fields of
    `Settings`. Raises HexsimError if the runtime does not take the model.
    """
    (platform,) = platforms_of(chip, how)
    sweep: Scope | None = "everything" if uncertainty else None
    under = BenchmarkConditions.of(
        platform, how, sweep=sweep, recorded=recorded, roofs=True, accuracy=False
    )
    case = run_case(source_name(model), platform, known_runtime(runtime), under)
    tell_overrides(case.network, case.overrides)
    warn_of((case.network, case.findings))
    return case
