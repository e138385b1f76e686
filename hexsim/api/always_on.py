"""`hexsim.always_on`: the power of a network that is called all the time."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Unpack

from hexsim.api.parameters import source_name, tell_overrides, warn_of
from hexsim.deployment.findings import findings_of
from hexsim.deployment.source_model import Preparation, SourceModel
from hexsim.dlc.loading import load_container
from hexsim.errors import step
from hexsim.quantization.model import Model
from hexsim.results.always_on import AlwaysOn
from hexsim.runtimes import DEFAULT_CHIP
from hexsim.studies import always_on as study
from hexsim.studies.always_on import Where
from hexsim.studies.conditions import Hardware, call_of, platforms_of
from hexsim.texts.arguments import arguments_checked


class Listening(Hardware, total=False):
    """How the network is prepared and called, as for `hexsim.benchmark`; `Hardware` too."""

    perf_profile: str | None
    background: str | Path | Iterable[str | Path]
    quantize: bool
    override_params: bool | None
    input_dims: Mapping[str, Sequence[int]]


@arguments_checked
def always_on(
    model: Model | str | Path,
    every: float,
    chip: str | Path = DEFAULT_CHIP,
    on: Where | None = None,
    **how: Unpack[Listening],
) -> AlwaysOn:
    """Return the average power of a model that is called every so many milliseconds.

    `on` is the low-power "island" or the "dsp"; None compares both. `how` are the fields of
    `Listening` and `Hardware`. Raises HexsimError if no alternative takes the model.
    """
    (platform,) = platforms_of(chip, how)
    call, source = call_of(platform, how), source_name(model)
    step(f"loading {source}")
    read = load_container(source, input_dims=how.get("input_dims") or {})
    loaded = SourceModel(source, read, platform, Preparation.of(how))
    deployment = loaded.deployment("dsp")
    answer = study.always_on(
        deployment.plan, platform, every, on, call["perf_profile"], call["background"]
    )
    tell_overrides(loaded.model.name, loaded.use("dsp"))
    warn_of((loaded.model.name, findings_of(deployment)))
    return answer
