"""`hexsim always-on` runs a network periodically, on the low-power island or on the DSP."""

from __future__ import annotations

from typing import Annotated

from hexsim.cli._options import (
    BackgroundOption,
    ModelArgument,
    OverrideParamsOption,
    ProfileOption,
    QuantizeOption,
)
from hexsim.cli._output import Json
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import Hardware, Shapes
from hexsim.records import dataclass


@dataclass(frozen=True)
class Scene(Shapes):
    """The alternative to simulate, its circumstances, and the preparation of a float model."""

    on: Annotated[str | None, "island or dsp; default: both, compared."] = None
    perf_profile: ProfileOption = None
    background: BackgroundOption = ()
    quantize: QuantizeOption = True
    override_params: OverrideParamsOption = None


@paged
@grouped
def always_on(
    *,
    model: ModelArgument,
    every: Annotated[float, "Milliseconds from call to call."],
    scene: Scene,
    hardware: Hardware,
    outputs: Json,
) -> None:
    """Average power of a network that listens all the time: on the low-power island, on the DSP."""
    from hexsim.api import always_on as api

    with TERMINAL.status():
        answer = api.always_on(model, every, **hardware.keywords(), **scene.keywords())
    outputs.write(answer)
    say(str(answer))
