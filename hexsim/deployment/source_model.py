"""A model as a user gives it to a command, and the deployments that the command makes of it.

A quantised file runs as it is, and so does one whose tensors all have encodings. A float one is
quantised by the runtimes that do so at load, or here, before it meets a runtime that only loads
quantised files, if that was asked for.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from hexsim.deployment.at_load import AtLoad, Calibration
from hexsim.deployment.deployment import Deployment, deploy
from hexsim.deployment.offline_hta import HtaChoice, chosen, prepared
from hexsim.deployment.platform import Platform
from hexsim.dlc import Container
from hexsim.dlc.loading import applied_overrides, is_dlc, load_container
from hexsim.errors import note, step
from hexsim.inputs.source import InputRoles, seeded_source
from hexsim.planning.load_rules import Effect
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import Overrides, OverrideUse
from hexsim.records import dataclass, replace
from hexsim.runtimes import FIXED_POINT, FileForm, Runtime, RuntimeChoice, preferred

_FLOATS: Mapping[Runtime, str] = {
    "cpu": "float32",
    "gpu": "float32, computed in float16",
    "gpu_fp16": "float16",
    "htp_fp16": "float16",
}
"""What the runtimes compute in that take no codes (quantised values)."""


def precision_of(deployment: Deployment, form: FileForm, calibrated_on: str | None = None) -> str:
    """Return what a deployment computes in and where its encodings come from, in words.

    Of a float file, `calibrated_on` names the inputs that gave the ranges; None
    stands for none, which is enough for times.
    """
    if deployment.runtime not in FIXED_POINT:
        return _FLOATS[deployment.runtime]
    bits = f"{' and '.join(map(str, deployment.bits))} bits"
    if form == "quantised file":
        return f"{bits} as the file has them"
    if form == "quantised here":
        how = f"calibrated on {calibrated_on}" if calibrated_on else "quantised here for times"
        return f"{bits}, {how}"
    return f"{bits}, quantised at load{f' on {calibrated_on}' if calibrated_on else ''}"


def runtime_on(platform: Platform, runtime: RuntimeChoice, source: str) -> Runtime:
    """Return a runtime; "auto" is that of a deployed network on the platform.

    That is the tensor processor, else the DSP, or aip where the model that `source` names, in a
    file or in memory, has sections for the tensor engine.
    """
    if runtime != "auto":
        return runtime
    has_sections = (
        "aip" in platform.runtimes
        and is_dlc(source)
        and any(each.chip == platform.chip.name for each in load_container(source).model.hta)
    )
    return preferred(platform.runtimes, sections=has_sections)


@dataclass(frozen=True)
class Preparation:
    """How a model may be prepared for a runtime.

    With `quantize` a float model is quantised for a runtime that only loads quantised ones. On aip
    it then gets the compiler's sections for the tensor engine: by `sections`, only if the model of
    time says that they make it faster. With `override_params` both this and
    quantising at load apply the overrides in the file; None applies those of the nodes of an ONNX
    file, False none.
    """

    quantize: bool = False
    override_params: bool | None = None
    sections: Literal["none", "faster", "all"] = "faster"
    cpu_fallback: bool = True

    @classmethod
    def of(cls, how: Mapping[str, Any]) -> Self:
        """Return it by the settings of public functions (`hexsim.studies.conditions.Preparing`)."""
        return cls(
            quantize=how.get("quantize", True),
            override_params=how.get("override_params"),
            sections="faster" if how.get("hta", True) else "none",
            cpu_fallback=how.get("cpu_fallback", True),
        )


class SourceModel:
    """The model in `source`; quantised once, when first needed, for all runtimes that need it.

    `overrides` take the place of those that the preparation takes from the file; a runtime that
    does not quantise refuses them. Raises HexsimError if it is to take some and there are none.
    """

    def __init__(
        self,
        source: str,
        container: Container,
        platform: Platform,
        preparation: Preparation,
        overrides: Overrides | None = None,
    ) -> None:
        demanded = overrides is not None
        if overrides is None:
            overrides = applied_overrides(
                container, source, override_params=preparation.override_params
            )
        self.overrides = overrides
        self._demanded = demanded
        self.model = container.model
        self._file_overrides = container.overrides
        self._platform = platform
        self._preparation = preparation
        self.hta_choice: HtaChoice | None = None
        """How aip got its sections, if they were chosen here."""
        self.calibrated_on: str | None = None
        """The inputs that calibrate, in words; None without `calibrate_on`."""
        self._for_aip: Model | None = None
        self._at_load = AtLoad(
            container.model.network,
            platform,
            overrides=self.overrides,
            required=demanded or bool(preparation.override_params),
        )

    def calibrate_on(self, inputs: InputRoles | None) -> None:
        """Quantise on those of `inputs` that calibrate; to be called before anything is quantised.

        None stands for seeded ones. Without this call the model is for times only, unless its file
        has all encodings or it is to run on inputs (`running`).
        """
        on_noise = inputs is None
        inputs = inputs or InputRoles(source := seeded_source(self.model.network), None, source)
        calibration = inputs.calibrating.feeds if inputs.calibrating else None
        self.calibrated_on = inputs.calibration if inputs.calibrating else None
        self._at_load = replace(self._at_load, calibration=calibration, on_noise=on_noise)

    def deployment(self, runtime: Runtime, perf_profile: str | None = None) -> Deployment:
        """Deploy the model on a runtime; raise HexsimError if the runtime refuses it.

        The sections of the tensor engine are chosen by the times with `perf_profile`.
        """
        ready, at_load = self.model, None
        if self._effect(runtime) == "refuse" and self._preparation.quantize:
            ready = self._on_aip(perf_profile) if runtime == "aip" else self.quantized
        elif self._demanded or self._effect(runtime) in ("quantise", "refuse"):
            at_load = self._at_load
        fallback = self._preparation.cpu_fallback
        return deploy(ready, self._platform, runtime, cpu_fallback=fallback, at_load=at_load)

    def running(self, runtime: Runtime, inputs: Calibration, *, seeded: bool = False) -> Deployment:
        """Deploy the model to compute values for `inputs`; errors as in `deployment`.

        The first of these calibrate what is quantised, here or at load, on every runtime; `seeded`
        ones say nothing of given ranges. They are not read before values are needed.
        """
        self._at_load = replace(self._at_load.run_on(inputs), on_noise=seeded)
        self.calibrated_on = f"the {'seeded ' * seeded}inputs that are run"
        if self.file_form(runtime) == "quantised here" and self._at_load.missing:
            note(
                f"{self.model.name} is float{self._at_load.missing} and {runtime} takes codes: it "
                f"is calibrated on {self.calibrated_on}"
            )
        return self.deployment(runtime)

    def calibrates(self, runtime: Runtime) -> bool:
        """True if the model is quantised for `runtime`, here or at load, on inputs."""
        here = self.file_form(runtime) == "quantised here"
        return here or self.deployment(runtime).calibrates

    def _on_aip(self, perf_profile: str | None) -> Model:
        """Return the model that was quantised here with sections, chosen once."""
        if self._for_aip is None:
            self._for_aip, platform = self.quantized, self._platform
            if self._preparation.sections == "all":
                self._for_aip = prepared(self.quantized, platform, "aip")
            elif self._preparation.sections == "faster":
                self._for_aip, self.hta_choice = chosen(self.quantized, platform, perf_profile)
        return self._for_aip

    @property
    def coded(self) -> bool:
        """True if the model is quantised, or its encodings leave nothing to calibrate."""
        return self.model.quantized or not self._at_load.needs_inputs

    def file_form(self, runtime: Runtime) -> FileForm:
        """Return the kind of file that the runtime gets."""
        if self.model.quantized or (runtime in FIXED_POINT and self.coded):
            return "quantised file"
        refused = self._effect(runtime) == "refuse"
        return "quantised here" if refused and self._preparation.quantize else "float"

    def precision(self, deployment: Deployment) -> str:
        """Return what a deployment of this model computes in, in words."""
        calibrated_on = self.calibrated_on if not self.coded else None
        return precision_of(deployment, self.file_form(deployment.runtime), calibrated_on)

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
