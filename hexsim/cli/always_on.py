"""`hexsim always-on` runs a network periodically, on the low-power island or on the DSP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._options import (
    BackgroundOption,
    InputDimOption,
    ModelArgument,
    OverrideParamsOption,
    ProfileOption,
    QuantizeOption,
    parse_input_dims,
)
from hexsim.cli._output import Json
from hexsim.cli._overrides import print_losses, print_override_use
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import Hardware
from hexsim.errors import unknown

if TYPE_CHECKING:
    from hexsim.studies.always_on import Where


@dataclass(frozen=True)
class Scene:
    """The alternative to simulate, and its circumstances."""

    on: Annotated[
        str | None, typer.Option("--on", help="island or dsp; default: both, compared.")
    ] = None
    perf_profile: ProfileOption = None
    background: BackgroundOption = None

    def where(self) -> Where | None:
        """Parse the name of the alternative; raise HexsimError for an unknown one."""
        known: tuple[Where, ...] = ("island", "dsp")
        for place in known:
            if self.on == place:
                return place
        if self.on is not None:
            raise unknown("place", self.on, known)
        return None


@dataclass(frozen=True)
class OfFloats:
    """The preparation of a float model."""

    quantize: QuantizeOption = False
    override_params: OverrideParamsOption = None


@paged
@grouped
def always_on(
    *,
    model: ModelArgument,
    every: Annotated[float, typer.Option("--every", help="Milliseconds from call to call.")],
    scene: Scene,
    hardware: Hardware,
    input_dim: InputDimOption = None,
    floats: OfFloats,
    outputs: Json,
) -> None:
    """Average power of a network that listens all the time: on the low-power island, on the DSP."""
    where = scene.where()
    platform = hardware.platform()

    from hexsim.cli._progress import status
    from hexsim.datasheets.background import load
    from hexsim.deployment.given import GivenModel, Preparation
    from hexsim.dlc.loading import load_container
    from hexsim.reports.studies import always_on_text
    from hexsim.studies.always_on import always_on

    clients = [load(name) for name in scene.background or ()]
    with status() as progress:
        progress(f"loading {model}")
        read = load_container(model, input_dims=parse_input_dims(input_dim))
        preparation = Preparation(floats.quantize, floats.override_params)
        loaded = GivenModel(model, read, platform, preparation, progress)
        deployment = loaded.deployment("dsp")
        plan = deployment.plan
        result = always_on(plan, platform, every, where, scene.perf_profile, clients)
    print_losses(deployment)
    if use := loaded.use("dsp"):
        print_override_use(loaded.model.name, use)
    outputs.write(json=result.to_json)
    say(always_on_text(result))
