"""A model as a user gives it to a command, and the deployments that the command makes of it.

A quantised file runs as it is. A float one is quantised by the runtimes that do so at load, or
here, before it meets a runtime that only loads quantised files, if that was asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from hexsim.deployment.at_load import AtLoad
from hexsim.deployment.deployment import Deployment, deploy
from hexsim.deployment.offline_hta import HtaChoice, chosen, prepared
from hexsim.deployment.platform import Platform
from hexsim.dlc import Container
from hexsim.dlc.loading import applied_overrides
from hexsim.inputs.split import InputRoles
from hexsim.quantization.model import Model
from hexsim.quantization.overrides.use import OverrideUse
from hexsim.runtimes import FIXED_POINT, Runtime

Given = Literal["float", "quantised file", "quantised here"]
"""The file that a runtime gets; networks are quantised here on seeded or a user's inputs."""


@dataclass(frozen=True)
class Preparation:
    """How a model may be prepared for a runtime.

    With `quantize` a float model is quantised for a runtime that only loads quantised ones; with
    `hta` it then gets the compiler's sections for the tensor engine, with `faster_hta` only if the
    model of time says that they make it faster. With `override_params` both this and
    quantising at load apply the overrides in the file; None applies those of the nodes of an ONNX
    file, False none. With `times_only` the ranges of activations are not calibrated.
    """

    quantize: bool = False
    override_params: bool | None = None
    hta: bool = True
    faster_hta: bool = False
    cpu_fallback: bool = True
    times_only: bool = False


class GivenModel:
    """The model in `source`; quantised once, when first needed, for all runtimes that need it.

    Raises HexsimError if overrides are requested and there are none. `progress` is called with
    each long step.
    """

    def __init__(
        self,
        source: str,
        container: Container,
        platform: Platform,
        preparation: Preparation,
        progress: Callable[[str], None] = lambda what: None,
    ) -> None:
        overrides = applied_overrides(container, source, asked=preparation.override_params)
        self.model = container.model
        self._file_overrides = container.overrides
        self._platform = platform
        self._preparation = preparation
        self._progress = progress
        self.hta_choice: HtaChoice | None = None
        """How aip got its sections, if they were chosen here."""
        self._for_aip: Model | None = None
        self._at_load = AtLoad(
            container.model.network,
            platform,
            overrides=overrides,
            required=bool(preparation.override_params),
            times_only=preparation.times_only,
        )

    def calibrate_on(self, inputs: InputRoles | None) -> None:
        """Quantise on those of `inputs` that calibrate; to be called before anything is quantised.

        Without them seeded ones calibrate.
        """
        if inputs is not None and inputs.calibrating is not None:
            self._at_load = replace(self._at_load, calibration=inputs.calibrating.feeds)

    def deployment(self, runtime: Runtime, perf_profile: str | None = None) -> Deployment:
        """Deploy the model on a runtime; raise HexsimError if the runtime refuses it.

        The sections of the tensor engine are chosen by the times with `perf_profile`.
        """
        ready, at_load = self.model, None
        if self.given(runtime) == "quantised here":
            ready = self._on_aip(perf_profile) if runtime == "aip" else self.quantized
        elif self._quantizes(runtime):
            at_load = self._at_load
        fallback = self._preparation.cpu_fallback
        return deploy(ready, self._platform, runtime, cpu_fallback=fallback, at_load=at_load)

    def _on_aip(self, perf_profile: str | None) -> Model:
        """Return the model that was quantised here with sections, chosen once."""
        if self._for_aip is None:
            hta, platform = self._preparation.hta, self._platform
            if hta and self._preparation.faster_hta:
                self._for_aip, self.hta_choice = chosen(self.quantized, platform, perf_profile)
            else:
                self._for_aip = prepared(self.quantized, platform, "aip", hta=hta)
        return self._for_aip

    def given(self, runtime: Runtime) -> Given:
        """Return the kind of file that the runtime gets."""
        if self.model.quantized:
            return "quantised file"
        refused = self._platform.load_rule(runtime, quantized=False).effect == "refuse"
        return "quantised here" if refused and self._preparation.quantize else "float"

    @cached_property
    def quantized(self) -> Model:
        """The model as given, or quantised with the stack's default options."""
        if self.model.quantized:
            return self.model
        self._progress(f"quantising {self.model.name}")
        return self._at_load.model

    def use(self, runtime: Runtime) -> OverrideUse | None:
        """Return the use of overrides, if the model is float and is quantised for the runtime."""
        if runtime not in FIXED_POINT or self.model.quantized:
            return None
        outcomes = self.quantized.overrides if self._at_load.overrides else ()
        return OverrideUse.of(self._file_overrides, outcomes)

    def _quantizes(self, runtime: Runtime) -> bool:
        rule = self._platform.load_rule(runtime, quantized=self.model.quantized)
        return rule.effect == "quantise"
