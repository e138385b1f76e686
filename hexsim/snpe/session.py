"""A session with the names of SNPE's API, for programs that use them.

    from hexsim.snpe import Runtime, Session

    session = Session("model_quantized.dlc", Runtime.DSP, chip="sd855")
    outputs = session.execute({"data": image})
    session.timing.total_us

As in SNPE, arrays are in stored order (an image: NHWC), and layers that the runtime refuses run on
the CPU unless `cpu_fallback` is False. `hexsim.simulate` and `hexsim.run` do the same in the axis
order of the ONNX file.

Objects that hold tensors are left out (numpy arrays replace them), and so are platform options and
logs of the application. `hexsim.use_layers` provides user-defined layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hexsim.accuracy.input_ranges import InputRanges
from hexsim.deployment import deploy
from hexsim.deployment.at_load import is_coded
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.errors import HexsimError, unknown, warn_caller
from hexsim.execution.net_run import wanted
from hexsim.files.atomic_write import write_bytes
from hexsim.graph.ir import FloatArray, Shape
from hexsim.inputs.stored import values_of
from hexsim.quantization.model import Model
from hexsim.runtimes import DEFAULT_CHIP
from hexsim.runtimes import Runtime as OurRuntime
from hexsim.snpe.diag_log import simulated_log
from hexsim.snpe.option import Level
from hexsim.snpe.runtimes import on_platform
from hexsim.timing.results import Result

if TYPE_CHECKING:
    from hexsim.execution.executors import SubnetExecutor

__all__ = ["PerformanceProfile", "ProfilingLevel", "Runtime", "Session", "is_runtime_available"]


class Runtime(Enum):
    """`Runtime_t`; the values are hexsim's names."""

    CPU_FLOAT32 = "cpu"
    GPU_FLOAT32_16_HYBRID = "gpu"
    DSP_FIXED8_TF = "dsp"
    GPU_FLOAT16 = "gpu_fp16"
    CPU_FIXED8_TF = "fxp_cpu"
    AIP_FIXED8_TF = "aip"
    CPU = CPU_FLOAT32
    GPU = GPU_FLOAT32_16_HYBRID
    DSP = DSP_FIXED8_TF
    AIP_FIXED_TF = AIP_FIXED8_TF

    @property
    def ours(self) -> OurRuntime:
        """The name that hexsim's functions take."""
        name: OurRuntime = self.value
        return name


class PerformanceProfile(Enum):
    """`PerformanceProfile_t`; the stack of a chip has some of them."""

    DEFAULT = "default"
    BALANCED = "balanced"
    HIGH_PERFORMANCE = "high_performance"
    POWER_SAVER = "power_saver"
    SYSTEM_SETTINGS = "system_settings"
    SUSTAINED_HIGH_PERFORMANCE = "sustained_high_performance"
    BURST = "burst"
    LOW_POWER_SAVER = "low_power_saver"
    HIGH_POWER_SAVER = "high_power_saver"
    LOW_BALANCED = "low_balanced"


class ProfilingLevel(Enum):
    """`ProfilingLevel_t`: selects the rows of a session's log; OFF writes no log."""

    OFF = "off"
    BASIC = "basic"
    MODERATE = "moderate"
    DETAILED = "detailed"


def is_runtime_available(
    runtime: Runtime, chip: str | Path = DEFAULT_CHIP, stack: str | Path | None = None
) -> bool:
    """Return whether the chip and its software have a runtime."""
    platform = Platform.load(chip, stack)
    return on_platform(runtime.ours, platform, quantized=True) in platform.runtimes


class Session:
    """A network on a runtime of a chip, ready to run.

    `container` is a .dlc file, or anything that `hexsim.load` takes or returns. A float network on
    a runtime that quantises it at load gets the ranges of the first inputs. `output_tensors`
    replace the network's outputs. Raises HexsimError as `hexsim.simulate` does.
    """

    def __init__(
        self,
        container: str | Path | Model,
        runtime: Runtime = Runtime.CPU,
        *,
        chip: str | Path = DEFAULT_CHIP,
        stack: str | Path | None = None,
        performance_profile: PerformanceProfile | None = None,
        profiling_level: ProfilingLevel = ProfilingLevel.OFF,
        output_tensors: Sequence[str] = (),
        cpu_fallback: bool = True,
    ) -> None:
        model = container if isinstance(container, Model) else load(container)
        platform = Platform.load(chip, stack)
        runs_on = on_platform(runtime.ours, platform, quantized=is_coded(model, platform))
        self._loaded = deploy(model, platform, runs_on, cpu_fallback=cpu_fallback)
        self._names = wanted(self._loaded.network, (), output_tensors, every=False)
        self._deployment = self._loaded.observing(self._names)
        self._executor: SubnetExecutor | None = None
        if not self._loaded.calibrates:
            self._executor = self._deployment.executor()
        self._profile = None if performance_profile is None else performance_profile.value
        self._level = profiling_level
        platform.stack.profile(self._profile)  # raises HexsimError for an unknown profile
        self._inferences = 0
        self._ranges_told = False

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self._deployment.network.inputs

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the tensors that `execute` returns."""
        return self._deployment.network.outputs

    def dimensions(self, name: str) -> Shape:
        """Return the stored shape of an input or output."""
        if name not in (*self.input_names, *self.output_names):
            raise unknown("input or output", name, (*self.input_names, *self.output_names))
        return self._deployment.network.tensors[name].shape

    def execute(self, inputs: Mapping[str, npt.ArrayLike]) -> dict[str, FloatArray]:
        """Return the outputs for inputs by name; flat arrays are reshaped.

        Integers of a quantised input's own type are quantised values, as in `hexsim.run`. Outputs
        are real numbers, even if they are quantised in the ONNX file.
        """
        for name in inputs:
            if name not in self.input_names:
                raise unknown("input", name, self.input_names)
        feeds = {name: self._input(name, inputs) for name in self.input_names}
        if self._executor is None:
            calibrated = self._loaded.run_on(lambda: [feeds])
            self._loaded = calibrated
            self._executor = calibrated.observing(self._names).executor()
        if not self._ranges_told:
            self._tell(feeds)
        self._inferences += 1
        return self._executor.run(feeds)

    @cached_property
    def timing(self) -> Result:
        """The timing of an inference, simulated on first access."""
        return self._deployment.simulate(perf_profile=self._profile)

    def write_log(self, path: str | Path) -> None:
        """Write the log for `snpe-diagview` at the profiling level of the session.

        Raises HexsimError if that is OFF, or the file cannot be written.
        """
        level: Level = self._level.value
        if self._level is ProfilingLevel.OFF:
            raise HexsimError("a session of profiling level OFF has no log; build it with another")
        text = simulated_log(self._deployment, self._profile, level, self._inferences)
        write_bytes(Path(path), text.encode())

    def _tell(self, feeds: Mapping[str, FloatArray]) -> None:
        """Warn if inputs do not suit the ranges of their codes, once."""
        ranges = InputRanges.on(self._loaded)
        ranges.take(feeds)
        for sentence in ranges.sentences():
            warn_caller(sentence)
            self._ranges_told = True

    def _input(self, name: str, inputs: Mapping[str, npt.ArrayLike]) -> FloatArray:
        if name not in inputs:
            raise HexsimError(
                f"input '{name}' is missing; give all of {', '.join(self.input_names)}"
            )
        array, shape = np.asarray(inputs[name]), self.dimensions(name)
        if array.shape != shape and array.shape != (int(np.prod(shape)),):
            raise HexsimError(
                f"input '{name}' has the shape {list(array.shape)}; expected {list(shape)}, or all "
                "of it in one row"
            )
        values = values_of(self._deployment.network, name, array)
        return np.ascontiguousarray(values.reshape(shape))
