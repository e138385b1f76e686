"""A model as a user gives it to a command, and the deployments that the command makes of it.

A quantised file runs as it is, and so does one whose tensors all have encodings. A float one is
quantised by the runtimes that do so at load, or here, before it meets a runtime that only loads
quantised files, if that was asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Self

from hexsim.deployment.at_load import AtLoad, Calibration
from hexsim.deployment.deployment import Deployment, deploy
from hexsim.deployment.offline_hta import HtaChoice, chosen, prepared
from hexsim.deployment.platform import Platform
from hexsim.dlc import Container
from hexsim.dlc.loading import applied_overrides
from hexsim.errors import step
from hexsim.inputs.seeded import seeded_calibration
from hexsim.inputs.source import InputRoles
from hexsim.planning.load_rules import Effect
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import OverrideUse
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
    file, False none.
    """

    quantize: bool = False
    override_params: bool | None = None
    hta: bool = True
    faster_hta: bool = False
    cpu_fallback: bool = True

    @classmethod
    def of(cls, how: Mapping[str, Any]) -> Self:
        """Return it by the settings of public functions (`hexsim.studies.conditions.Preparing`)."""
        return cls(
            quantize=how.get("quantize", False),
            override_params=how.get("override_params"),
            hta=how.get("hta", True),
            faster_hta=True,
            cpu_fallback=how.get("cpu_fallback", True),
        )


class GivenModel:
    """The model in `source`; quantised once, when first needed, for all runtimes that need it.

    Raises HexsimError if overrides are requested and there are none.
    """

    def __init__(
        self,
        source: str,
        container: Container,
        platform: Platform,
        preparation: Preparation,
    ) -> None:
        self.overrides = applied_overrides(
            container, source, override_params=preparation.override_params
        )
        self.model = container.model
        self._file_overrides = container.overrides
        self._platform = platform
        self._preparation = preparation
        self.hta_choice: HtaChoice | None = None
        """How aip got its sections, if they were chosen here."""
        self._for_aip: Model | None = None
        self._at_load = AtLoad(
            container.model.network,
            platform,
            overrides=self.overrides,
            required=bool(preparation.override_params),
        )

    def calibrate_on(self, inputs: InputRoles | None) -> None:
        """Quantise on those of `inputs` that calibrate; to be called before anything is quantised.

        None stands for seeded ones. Without this call the model is for times only, unless its file
        has all encodings or its deployment gets inputs (`Deployment.run_on`).
        """
        calibration: Calibration | None = partial(seeded_calibration, self.model.network)
        if inputs is not None:
            calibration = inputs.calibrating.feeds if inputs.calibrating else None
        on_noise = inputs is None
        self._at_load = replace(self._at_load, calibration=calibration, on_noise=on_noise)

    def deployment(self, runtime: Runtime, perf_profile: str | None = None) -> Deployment:
        """Deploy the model on a runtime; raise HexsimError if the runtime refuses it.

        The sections of the tensor engine are chosen by the times with `perf_profile`.
        """
        ready, at_load = self.model, None
        if self._effect(runtime) == "refuse" and self._preparation.quantize:
            ready = self._on_aip(perf_profile) if runtime == "aip" else self.quantized
        elif self._effect(runtime) in ("quantise", "refuse"):
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

    @property
    def coded(self) -> bool:
        """True if the model is quantised, or its encodings leave nothing to calibrate."""
        return self.model.quantized or not self._at_load.needs_inputs

    def given(self, runtime: Runtime) -> Given:
        """Return the kind of file that the runtime gets."""
        if self.model.quantized or (runtime in FIXED_POINT and self.coded):
            return "quantised file"
        refused = self._effect(runtime) == "refuse"
        return "quantised here" if refused and self._preparation.quantize else "float"

    @cached_property
    def quantized(self) -> Model:
        """The model as given, or quantised with the stack's default options."""
        if self.model.quantized:
            return self.model
        step(f"quantising {self.model.name}")
        return self._at_load.model

    def use(self, runtime: Runtime) -> OverrideUse | None:
        """Return the use of overrides, if the model is float and is quantised for the runtime."""
        if runtime not in FIXED_POINT or self.model.quantized:
            return None
        outcomes = self.quantized.overrides if self._at_load.overrides else ()
        return OverrideUse.of(self._file_overrides, outcomes)

    def _effect(self, runtime: Runtime) -> Effect:
        return self._platform.load_rule(runtime, quantized=self.model.quantized).effect
