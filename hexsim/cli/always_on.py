"""`hexsim always-on` runs a network periodically, on the low-power island or on the DSP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

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
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import say
from hexsim.cli._signature import grouped, paged
from hexsim.cli._simulated import Hardware
from hexsim.runtimes import DSP_CHIP

if TYPE_CHECKING:
    from hexsim.studies.always_on import Where


_HARDWARE = Hardware(DSP_CHIP)


@dataclass(frozen=True)
class Scene:
    """The alternative to simulate, and its circumstances."""

    on: Annotated[
        str | None, typer.Option("--on", help="island or dsp; default: both, compared.")
    ] = None
    perf_profile: ProfileOption = None
    background: BackgroundOption = None


@dataclass(frozen=True)
class OfFloats:
    """The preparation of a float model."""

    quantize: QuantizeOption = True
    override_params: OverrideParamsOption = None


@paged
@grouped
def always_on(
    *,
    model: ModelArgument,
    every: Annotated[float, typer.Option("--every", help="Milliseconds from call to call.")],
    scene: Scene,
    hardware: Hardware = _HARDWARE,
    input_dim: InputDimOption = None,
    floats: OfFloats,
    outputs: Json,
) -> None:
    """Average power of a network that listens all the time: on the low-power island, on the DSP.

    The default chip is one whose DSP is known, not that of other commands.
    """
    from hexsim.api import always_on as api

    how: api.Listening = {
        **hardware.settings(),
        "perf_profile": scene.perf_profile,
        "background": scene.background or (),
        "quantize": floats.quantize,
        "override_params": floats.override_params,
        "input_dims": parse_input_dims(input_dim),
    }
    with TERMINAL.status():
        answer = api.always_on(model, every, hardware.chip, cast("Where | None", scene.on), **how)
    outputs.write(answer)
    say(str(answer))
