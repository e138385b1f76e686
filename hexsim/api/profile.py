"""`hexsim.profile`: one inference, layer by layer."""

from pathlib import Path
from typing import Unpack

from hexsim.api.parameters import source_name, tell_overrides, warn_of
from hexsim.deployment.source_model import runtime_on
from hexsim.quantization.model import Model
from hexsim.results.benchmark import Inference
from hexsim.runtimes import DEFAULT_CHIP, RuntimeChoice
from hexsim.studies.benchmark import BenchmarkConditions, run_case
from hexsim.studies.conditions import Settings, platforms_of
from hexsim.studies.uncertainty import Scope
from hexsim.texts.arguments import arguments_checked


@arguments_checked
def profile(
    model: Model | str | Path,
    chip: str | Path = DEFAULT_CHIP,
    runtime: RuntimeChoice = "auto",
    *,
    uncertainty: bool = False,
    recorded: bool = False,
    **how: Unpack[Settings],
) -> Inference:
    """Simulate one inference layer by layer, as `hexsim profile` does; no values are computed.

    `uncertainty` changes assumed and calibrated constants one at a time, and lists their effects.
    A `recorded` timeline has the hardware threads and vector contexts too. `how` are the fields of
    `Settings`. `runtime` "auto" is that of a deployed network on the chip: the tensor processor,
    else the DSP, or aip for a file with sections; a float model is quantised where that needs it.
    Raises HexsimError if the runtime does not take the model.
    """
    (platform,) = platforms_of(chip, how)
    source = source_name(model)
    chosen = runtime_on(platform, runtime, source)
    sweep: Scope | None = "everything" if uncertainty else None
    under = BenchmarkConditions.of(
        platform, how, sweep=sweep, recorded=recorded, roofs=True, accuracy=False
    )
    case = run_case(source, platform, chosen, under)
    tell_overrides(case.network, case.overrides)
    warn_of((case.network, case.findings))
    return case
