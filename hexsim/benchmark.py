"""Runs networks on runtimes of one platform and sets the results beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from hexsim.accuracy.agreement import Agreement, agreement
from hexsim.accuracy.scores import class_scores, scored
from hexsim.api import seeded_calibration
from hexsim.background import Background
from hexsim.execution import PlanExecutor
from hexsim.graph.ir import FloatArray, Network
from hexsim.host.float_execution import FloatEngine
from hexsim.hta.offline import Order, compile_all
from hexsim.interference import Interference, interference
from hexsim.loading import is_builtin, load
from hexsim.partitioning import Found, LayerTimes, Prices, compiled_sections, search
from hexsim.platform import Platform
from hexsim.quantization.options import QuantizationOptions
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


@dataclass(frozen=True)
class Case:
    """One network on one runtime: its simulated time and, if asked, how far that may be off and
    how well the answers agree with float.

    `builtin` tells a built-in network, whose measurements are known, from a file of any name.
    `cut` is the fastest cut of aip, if other runtimes were asked for too; it would save `saved_us`.
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
    cut: Found | None = None
    saved_us: float = 0.0

    @property
    def fastest_us(self) -> float:
        """Total inference time with the fastest cut, where there is a choice."""
        return self.timing.total_us - self.saved_us


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
    hta: bool = True
    input_dims: Mapping[str, Sequence[int]] = field(default_factory=dict)
    background: tuple[Background, ...] = ()


def run_benchmark(
    sources: Sequence[str],
    platform: Platform,
    runtimes: Sequence[Runtime],
    conditions: Conditions,
    progress: Callable[[str], None] = lambda what: None,
) -> Iterator[Case]:
    """Yield one case per source (file or built-in network) and runtime, in that order.

    With `conditions.quantize` a float network is quantised before it meets a runtime that only
    loads quantised ones, calibrated on seeded inputs. `progress` is told what is going on.
    """
    for source in sources:
        progress(f"loading {source}")
        loaded = load(source, input_dims=conditions.input_dims)
        models = _Models(loaded, platform.quantization_options, progress)
        network = models.network
        for runtime in runtimes:
            progress(f"{network.name} on {runtime}")
            model = models.for_runtime(runtime, platform, conditions)
            plan = platform.plan(model, runtime, cpu_fallback=conditions.cpu_fallback)
            workload = Workload.single(
                plan,
                perf_profile=conditions.perf_profile,
                idle_ms=conditions.idle_ms,
                buffer=conditions.buffer,
                background=conditions.background,
            )
            found = interference(platform, workload) if conditions.background else None
            alone = replace(workload, background=())

            def run(changed: Platform, alone: Workload = alone) -> Result:
                return simulate(alone, changed.chip, changed.stack)

            timing = found.alone if found else run(platform)
            interval = None
            if conditions.uncertainty:
                progress(f"{network.name} on {runtime}: uncertainty")
                interval = sweep(platform, run)
            is_choice = runtime == "aip" and len(runtimes) > 1
            match = None
            if conditions.accuracy:
                match = models.agreement(platform, runtime, conditions.cpu_fallback)
            yield Case(
                network.name,
                platform.chip.name,
                platform.stack.name,
                conditions.perf_profile or platform.stack.default_profile,
                platform.stack.buffer(conditions.buffer),
                is_builtin(source),
                network.inputs,
                runtime,
                timing,
                interval,
                match,
                found,
                *(_fastest(model, platform, conditions) if is_choice else ()),
            )


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
        loaded: Network | QuantizedNetwork,
        options: QuantizationOptions,
        progress: Callable[[str], None],
    ) -> None:
        self.network = float_network(loaded)
        self._options = options
        self._loaded = loaded
        self._progress = progress

    def for_runtime(
        self, runtime: Runtime, platform: Platform, conditions: Conditions
    ) -> Network | QuantizedNetwork:
        """The network as the runtime loads it: as it is, or quantised where floats are refused.

        What is quantised here for aip gets HTA sections, unless the conditions leave them out.
        """
        refused = platform.load_rule(runtime, quantized=False).effect == "refuse"
        if not refused or not conditions.quantize or isinstance(self._loaded, QuantizedNetwork):
            return self._loaded
        if runtime != "aip" or not conditions.hta:
            return self.quantized
        compiled, _ = compile_all(self.quantized, [Order(platform.chip, platform.stack)])
        return compiled

    @cached_property
    def quantized(self) -> QuantizedNetwork:
        """The network as loaded, or quantised on seeded inputs as the stack does it by default."""
        if isinstance(self._loaded, QuantizedNetwork):
            return self._loaded
        self._progress(f"quantising {self.network.name}")
        return quantize(self.network, seeded_calibration(self.network), self._options)

    def agreement(self, platform: Platform, runtime: Runtime, cpu_fallback: bool) -> Agreement:
        """How near the runtime's class scores come to those of the float network."""
        model = scored(self.quantized if runtime in FIXED_POINT else self.network)
        executor = PlanExecutor(
            platform.plan(model, runtime, cpu_fallback=cpu_fallback),
            model,
            signed_weights=platform.signed_weights(runtime),
        )
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
