"""Runs networks on runtimes of one platform and sets the results beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from hexsim.accuracy.agreement import Agreement, agreement
from hexsim.accuracy.scores import class_scores, scored
from hexsim.api import seeded_calibration
from hexsim.background import Background
from hexsim.errors import HexsimError
from hexsim.execution import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.host.float_execution import FloatEngine
from hexsim.interference import Interference, interference
from hexsim.loading import is_builtin, load
from hexsim.plan import Plan
from hexsim.platform import Platform
from hexsim.quantization.quantized import QuantizedNetwork, float_network
from hexsim.quantization.quantizer import quantize
from hexsim.results import Result
from hexsim.runtimes import FIXED_POINT, Runtime
from hexsim.simulator import Workload, simulate
from hexsim.stacks import BufferType
from hexsim.uncertainty import Uncertainty, sweep

EVALUATION_INPUTS = 4
"""Seeded inputs on which a runtime's answers are compared with float; none is a calibration
input."""

_EVALUATION_SEED = 1

Given = Literal["float", "quantised file", "quantised here"]
"""What a runtime was given; networks are quantised here on seeded inputs."""


@dataclass(frozen=True)
class Case:
    """One network on one runtime: its simulated time and, if asked, how far that may be off and
    how well the answers agree with float.

    `builtin` tells a built-in network, whose measurements are known, from a file of any name.
    `timing` is that of the network alone; `interference` tells how it fares beside other clients.
    """

    network: str
    chip: str
    stack: str
    perf_profile: str
    buffer: BufferType
    builtin: bool
    inputs: tuple[str, ...]
    runtime: Runtime
    timing: Result
    uncertainty: Uncertainty | None
    agreement: Agreement | None
    interference: Interference | None = None
    given: Given = "float"


@dataclass(frozen=True)
class Refusal:
    """A network that a runtime does not take, with the sentence that says why."""

    network: str
    runtime: Runtime
    reason: str


@dataclass(frozen=True)
class Conditions:
    """What all cases of one benchmark share."""

    perf_profile: str | None = None
    idle_ms: float = 0.0
    buffer: BufferType | None = None
    cpu_fallback: bool = True
    uncertainty: bool = False
    accuracy: bool = True
    quantize: bool = False
    input_dims: Mapping[str, Sequence[int]] = field(default_factory=dict)
    background: tuple[Background, ...] = ()


def run_benchmark(
    sources: Sequence[str],
    platform: Platform,
    runtimes: Sequence[Runtime],
    conditions: Conditions,
    progress: Callable[[str], None] = lambda what: None,
) -> Iterator[Case | Refusal]:
    """Yield what becomes of each source (file or built-in network) and runtime, in that order.

    With `conditions.quantize` a float network is quantised before it meets a runtime that only
    loads quantised ones, calibrated on seeded inputs. `progress` is told what is going on.
    """
    for source in sources:
        models = _Models.load(source, platform, conditions, progress)
        for runtime in runtimes:
            try:
                plan = models.plan(runtime)
            except HexsimError as error:
                yield Refusal(models.network.name, runtime, str(error))
            else:
                yield models.case(plan, runtime)


def run_case(
    source: str,
    platform: Platform,
    runtime: Runtime,
    conditions: Conditions,
    progress: Callable[[str], None] = lambda what: None,
) -> Case:
    """Return the one case of `run_benchmark`; raise HexsimError if the runtime refuses it."""
    models = _Models.load(source, platform, conditions, progress)
    return models.case(models.plan(runtime), runtime)


class _Models:
    """What the runtimes share of one network, each part made when first needed.

    A network that was loaded quantised is dequantised for the float runtimes.
    """

    def __init__(
        self,
        source: str,
        loaded: Network | QuantizedNetwork,
        platform: Platform,
        conditions: Conditions,
        progress: Callable[[str], None],
    ) -> None:
        self.network = float_network(loaded)
        self._source = source
        self._loaded = loaded
        self._platform = platform
        self._conditions = conditions
        self._progress = progress

    @classmethod
    def load(
        cls,
        source: str,
        platform: Platform,
        conditions: Conditions,
        progress: Callable[[str], None],
    ) -> _Models:
        """Load the network that `source` names."""
        progress(f"loading {source}")
        loaded = load(source, input_dims=conditions.input_dims)
        return cls(source, loaded, platform, conditions, progress)

    def plan(self, runtime: Runtime) -> Plan:
        """The plan of the network as the runtime loads it; raise HexsimError if it refuses that."""
        model = self._loaded if self._given(runtime) != "quantised here" else self.quantized
        return self._plan(model, runtime)

    def case(self, plan: Plan, runtime: Runtime) -> Case:
        """Time `plan` and compare the runtime's answers, as far as the conditions ask for it."""
        platform, conditions, name = self._platform, self._conditions, self.network.name
        self._progress(f"{name} on {runtime}")
        workload = Workload.single(
            plan,
            perf_profile=conditions.perf_profile,
            idle_ms=conditions.idle_ms,
            buffer=conditions.buffer,
            background=conditions.background,
        )
        found = interference(platform, workload) if conditions.background else None
        alone = replace(workload, background=())

        def run(changed: Platform) -> Result:
            return simulate(alone, changed.chip, changed.stack)

        timing = found.alone if found else run(platform)
        interval = None
        if conditions.uncertainty:
            self._progress(f"{name} on {runtime}: uncertainty")
            interval = sweep(platform, run)
        return Case(
            network=name,
            chip=platform.chip.name,
            stack=platform.stack.name,
            perf_profile=conditions.perf_profile or platform.stack.default_profile,
            buffer=platform.stack.buffer(conditions.buffer),
            builtin=is_builtin(self._source),
            inputs=self.network.inputs,
            runtime=runtime,
            timing=timing,
            uncertainty=interval,
            agreement=self._agreement(runtime) if conditions.accuracy else None,
            interference=found,
            given=self._given(runtime),
        )

    def _given(self, runtime: Runtime) -> Given:
        if isinstance(self._loaded, QuantizedNetwork):
            return "quantised file"
        refused = self._platform.load_rule(runtime, quantized=False).effect == "refuse"
        return "quantised here" if refused and self._conditions.quantize else "float"

    def _plan(self, model: Network | QuantizedNetwork, runtime: Runtime) -> Plan:
        return self._platform.plan(model, runtime, cpu_fallback=self._conditions.cpu_fallback)

    @cached_property
    def quantized(self) -> QuantizedNetwork:
        """The network as loaded, or quantised on seeded inputs as the stack does it by default."""
        if isinstance(self._loaded, QuantizedNetwork):
            return self._loaded
        self._progress(f"quantising {self.network.name}")
        options = self._platform.quantization_options
        return quantize(self.network, seeded_calibration(self.network), options)

    def _agreement(self, runtime: Runtime) -> Agreement:
        """How near the runtime's class scores come to those of the float network."""
        model = scored(self.quantized if runtime in FIXED_POINT else self.network)
        signed = self._platform.signed_weights(runtime)
        executor = PlanExecutor(self._plan(model, runtime), model, signed_weights=signed)
        return agreement(self.reference, [executor.run(x) for x in self.evaluation])

    @cached_property
    def evaluation(self) -> list[dict[str, FloatArray]]:
        """Inputs on which runtimes are compared with float, in stored order."""
        return seeded_calibration(self.network, EVALUATION_INPUTS, _EVALUATION_SEED)

    @cached_property
    def reference(self) -> list[dict[str, FloatArray]]:
        """The float network's class scores on the evaluation inputs."""
        engine = FloatEngine(class_scores(self.network))
        return [engine.run(x) for x in self.evaluation]
