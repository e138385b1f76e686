"""Runs networks on runtimes of one platform and sets the results beside what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from hexsim.accuracy.agreement import Agreement, agreement
from hexsim.accuracy.scores import class_scores, scored
from hexsim.api import seeded_calibration
from hexsim.container import Container
from hexsim.container.loading import applied_overrides, is_builtin, load_container
from hexsim.errors import HexsimError
from hexsim.execution.plan_executor import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.planning.plan import Plan
from hexsim.platform import Platform
from hexsim.platforms.background import Background
from hexsim.platforms.stacks import BufferType
from hexsim.quantization.overrides.use import OverrideUse
from hexsim.quantization.quantized import QuantizedNetwork, float_network
from hexsim.runtimes import FIXED_POINT, Runtime
from hexsim.simulation.simulator import Workload, simulate
from hexsim.studies.cuts import Found, LayerTimes, Prices, compiled_sections, search
from hexsim.studies.interference import Interference, interference
from hexsim.studies.uncertainty import Scope, Uncertainty, sweep
from hexsim.timing.results import Result

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

    `source` is the file or built-in network as it was named by who asked.
    `builtin` tells a built-in network, whose measurements are known, from a file of any name.
    `cut` is the fastest cut of aip, if other runtimes were asked for too; it would save `saved_us`.
    `overrides` says what became of those of a float file that is quantised, here or at load.
    `timing` is that of the network alone; `interference` tells how it fares beside other clients.
    """

    network: str
    source: str
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
    cut: Found | None = None
    saved_us: float = 0.0
    overrides: OverrideUse | None = None

    @property
    def fastest_us(self) -> float:
        """Total inference time with the fastest cut, where there is a choice."""
        return self.timing.total_us - self.saved_us


@dataclass(frozen=True)
class Refusal:
    """A network that a runtime does not take, with the sentence that says why."""

    network: str
    source: str
    runtime: Runtime
    reason: str


def told_apart(results: Iterable[Case | Refusal]) -> list[Case | Refusal]:
    """Name networks by their sources where several sources hold networks of one name."""
    listed = list(results)
    named = {(one.network, one.source) for one in listed}
    count = Counter(network for network, _ in named)
    return [replace(one, network=one.source) if count[one.network] > 1 else one for one in listed]


@dataclass(frozen=True)
class Conditions:
    """What all cases of one benchmark share.

    `sweep` gives times an interval: everything, or only those of the tensor engine (None: none).
    """

    perf_profile: str | None = None
    idle_ms: float = 0.0
    buffer: BufferType | None = None
    cpu_fallback: bool = True
    sweep: Scope | None = None
    accuracy: bool = True
    quantize: bool = False
    override_params: bool = False
    hta: bool = True
    input_dims: Mapping[str, Sequence[int]] = field(default_factory=dict)
    background: tuple[Background, ...] = ()
    recorded: bool = False


def run_benchmark(
    sources: Sequence[str],
    platform: Platform,
    runtimes: Sequence[Runtime],
    conditions: Conditions,
    progress: Callable[[str], None] = lambda what: None,
) -> Iterator[Case | Refusal]:
    """Yield what becomes of each source (file or built-in network) and runtime, in that order.

    With `conditions.quantize` a float network is quantised before it meets a runtime that only
    loads quantised ones, calibrated on seeded inputs. With `conditions.override_params` that, and
    what a runtime does at load, applies the overrides that the file holds. `progress` is told
    what is going on.
    """
    for source in dict.fromkeys(sources):
        models = _Models.load(source, platform, conditions, progress)
        for runtime in runtimes:
            model = models.for_runtime(runtime)
            try:
                plan = models.plan(model, runtime)
            except HexsimError as error:
                yield Refusal(models.network.name, source, runtime, str(error))
            else:
                choice = runtime == "aip" and len(runtimes) > 1
                yield models.case(model, plan, runtime, choose_cut=choice)


def run_case(
    source: str,
    platform: Platform,
    runtime: Runtime,
    conditions: Conditions,
    progress: Callable[[str], None] = lambda what: None,
) -> Case:
    """Return the one case of `run_benchmark`; raise HexsimError if the runtime refuses it."""
    models = _Models.load(source, platform, conditions, progress)
    model = models.for_runtime(runtime)
    return models.case(model, models.plan(model, runtime), runtime)


def _fastest(
    model: Network | QuantizedNetwork, platform: Platform, conditions: Conditions
) -> tuple[Found, float]:
    """The fastest cut, and what it saves against the sections that the model has."""
    prices = Prices(LayerTimes(model, platform, conditions.perf_profile))
    found = search(prices)
    now = prices.simulated(compiled_sections(model, platform.chip))
    return found, now.total_us - found.best_us


class _Models:
    """What the runtimes share of one network, each part made when first needed.

    A network that was loaded quantised is dequantised for the float runtimes.
    """

    def __init__(
        self,
        source: str,
        read: Container,
        platform: Platform,
        conditions: Conditions,
        progress: Callable[[str], None],
    ) -> None:
        self.network = float_network(read.model)
        self._source = source
        self._loaded = read.model
        self._held = read.overrides
        self._overrides = applied_overrides(read, source, asked=conditions.override_params)
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
        read = load_container(source, input_dims=conditions.input_dims)
        return cls(source, read, platform, conditions, progress)

    def for_runtime(self, runtime: Runtime) -> Network | QuantizedNetwork:
        """The network as the runtime loads it: as it is, or quantised where floats are refused.

        What is quantised here for aip gets HTA sections, unless the conditions leave them out.
        """
        if self._given(runtime) == "quantised here":
            return self._platform.prepared(self.quantized, runtime, hta=self._conditions.hta)
        if self._overrides and self._quantises(runtime):
            return self.quantized
        return self._loaded

    def plan(self, model: Network | QuantizedNetwork, runtime: Runtime) -> Plan:
        """The plan of `model`; raise HexsimError if the runtime refuses it."""
        fallback = self._conditions.cpu_fallback
        plan = self._platform.plan(model, runtime, cpu_fallback=fallback)
        at_load = plan.quantized and self._given(runtime) == "float"
        return plan.of_float_file() if at_load else plan

    def case(
        self,
        model: Network | QuantizedNetwork,
        plan: Plan,
        runtime: Runtime,
        *,
        choose_cut: bool = False,
    ) -> Case:
        """Time `plan` of `model` and compare answers, as far as the conditions ask for it.

        With `choose_cut` the case also tells what the fastest cut would save.
        """
        platform, conditions, name = self._platform, self._conditions, self.network.name
        self._progress(f"{name} on {runtime}")
        workload = Workload.single(
            plan,
            perf_profile=conditions.perf_profile,
            idle_ms=conditions.idle_ms,
            buffer=conditions.buffer,
            background=conditions.background,
            recorded=conditions.recorded,
        )
        found = interference(platform, workload) if conditions.background else None
        timing = found.alone if found else simulate(workload, platform.chip, platform.stack)
        alone = replace(workload, background=(), recorded=False)

        def run(changed: Platform) -> Result:
            return simulate(alone, changed.chip, changed.stack)

        interval = None
        if conditions.sweep == "everything" or (conditions.sweep and timing.uses_hta):
            self._progress(f"{name} on {runtime}: uncertainty")
            interval = sweep(platform, run, conditions.sweep)
        cut, saved_us = _fastest(model, platform, conditions) if choose_cut else (None, 0.0)
        return Case(
            network=name,
            source=self._source,
            chip=platform.chip.name,
            stack=platform.stack.name,
            perf_profile=conditions.perf_profile or platform.stack.default_profile,
            buffer=platform.stack.buffer(conditions.buffer),
            builtin=is_builtin(self._source),
            inputs=self.network.inputs,
            runtime=runtime,
            timing=timing,
            uncertainty=interval,
            agreement=self._agreement(model, runtime) if conditions.accuracy else None,
            interference=found,
            given=self._given(runtime),
            cut=cut,
            saved_us=saved_us,
            overrides=self._use(runtime),
        )

    def _given(self, runtime: Runtime) -> Given:
        if isinstance(self._loaded, QuantizedNetwork):
            return "quantised file"
        refused = self._platform.load_rule(runtime, quantized=False).effect == "refuse"
        return "quantised here" if refused and self._conditions.quantize else "float"

    @cached_property
    def quantized(self) -> QuantizedNetwork:
        """The network as loaded, or quantised on seeded inputs as the stack does it by default."""
        if isinstance(self._loaded, QuantizedNetwork):
            return self._loaded
        self._progress(f"quantising {self.network.name}")
        inputs = seeded_calibration(self.network)
        return self._platform.quantize(self.network, inputs, self._overrides)

    def _quantises(self, runtime: Runtime) -> bool:
        """True if the runtime quantises floats at load."""
        return self._platform.load_rule(runtime, quantized=False).effect == "quantise"

    def _use(self, runtime: Runtime) -> OverrideUse | None:
        """What became of overrides, if the network is float and is quantised for the runtime."""
        if runtime not in FIXED_POINT or isinstance(self._loaded, QuantizedNetwork):
            return None
        outcomes = self.quantized.overrides if self._overrides else ()
        return OverrideUse.of(self._held, outcomes)

    def _agreement(self, model: Network | QuantizedNetwork, runtime: Runtime) -> Agreement:
        """How near the class scores of a runtime and what it loaded come to those in float."""
        if runtime not in FIXED_POINT:
            model = self.network
        elif not isinstance(model, QuantizedNetwork):
            model = self.quantized
        model = scored(model)
        signed = self._platform.signed_weights(runtime)
        executor = PlanExecutor(self.plan(model, runtime), model, signed_weights=signed)
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
