"""Runs networks on runtimes of one platform and sets the results beside what was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from hexsim.accuracy.agreement import Agreement
from hexsim.accuracy.agreements import Agreements
from hexsim.datasheets.background import Background
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment import Deployment
from hexsim.deployment.given import Given, GivenModel, Preparation
from hexsim.deployment.platform import Platform, software
from hexsim.dlc.loading import is_builtin, load_container
from hexsim.energy import Energy
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.graph.reading_ahead import read_ahead
from hexsim.inputs.seeded import EVALUATION_INPUTS, EVALUATION_SEED, seeded_calibration
from hexsim.inputs.source import InputSource
from hexsim.memory import Footprint
from hexsim.quantization.overrides.use import OverrideUse
from hexsim.runtimes import Runtime
from hexsim.simulation.simulator import Workload
from hexsim.studies.cuts import Found, LayerTimes, Prices, compiled_sections, search
from hexsim.studies.draws import DrawnTimes, drawn, draws
from hexsim.studies.interference import Interference, interference
from hexsim.studies.shared_draws import drawn_by
from hexsim.studies.uncertainty import Scope, Uncertainty, sweep
from hexsim.timing.results import Result

if TYPE_CHECKING:
    from hexsim.studies.pool import Pool

SEEDED = "seeded inputs"
"""What answers are compared on where the user names no inputs."""


@dataclass(frozen=True)
class Case:
    """One network on one runtime: its simulated time and, if asked, how far that may be off and
    how well the answers agree with float.

    `source` is the file or built-in network as it was named by who asked.
    `builtin` tells a built-in network, whose measurements are known, from a file of any name.
    `cut` is the fastest cut of aip, if other runtimes were asked for too; it would save `saved_us`.
    `overrides` says what became of those of a float file that is quantised, here or at load.
    `timing`, `memory` and `energy` are those of the network alone; `interference` tells how it
    fares beside other clients.
    `evaluated` says on which inputs answers were compared, and what was quantised calibrated.
    `drawn` are times with all constants drawn at once, the same draws for all cases of a platform.
    `subnets` are the runs of layers on one engine that it is cut into.
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
    memory: Footprint
    energy: Energy
    uncertainty: Uncertainty | None
    agreement: Agreement | None
    interference: Interference | None = None
    given: Given = "float"
    cut: Found | None = None
    saved_us: float = 0.0
    overrides: OverrideUse | None = None
    drawn: DrawnTimes | None = None
    evaluated: str = SEEDED
    subnets: int = 1
    ideal_cpu: bool = False
    anchor: str | None = None

    @property
    def software(self) -> str:
        """The stack, and what was changed of it."""
        return software(self.stack, ideal_cpu=self.ideal_cpu, anchor=self.anchor)

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


@dataclass(frozen=True)
class BenchmarkConditions:
    """What all cases of one benchmark share.

    `sweep` gives times an interval: everything, or only those of the tensor engine (None: none).
    `draws` is how often all constants are drawn at once, 0 for not, and `pool` has workers that
    share them (None: all here). `inputs` makes those on which
    answers are compared, and what is quantised here or at load is calibrated; None: seeded ones.
    """

    perf_profile: str | None = None
    idle_ms: float = 0.0
    buffer: BufferType | None = None
    preparation: Preparation = field(default_factory=Preparation)
    sweep: Scope | None = None
    draws: int = 0
    pool: Pool | None = None
    accuracy: bool = True
    inputs: Callable[[Network], InputSource] | None = None
    input_dims: Mapping[str, Sequence[int]] = field(default_factory=dict)
    background: tuple[Background, ...] = ()
    recorded: bool = False


def run_benchmark(
    sources: Sequence[str],
    platform: Platform,
    runtimes: Sequence[Runtime],
    conditions: BenchmarkConditions,
    progress: Callable[[str], None] = lambda what: None,
) -> Iterator[Case | Refusal]:
    """Yield what becomes of each source (file or built-in network) and runtime, in that order.

    Networks are named by their sources where several sources hold networks of one name.
    `progress` is told what is going on.
    """
    for results in by_network(sources, platform, runtimes, conditions, progress):
        yield from results


def by_network(
    sources: Sequence[str],
    platform: Platform,
    runtimes: Sequence[Runtime],
    conditions: BenchmarkConditions,
    progress: Callable[[str], None] = lambda what: None,
) -> Iterator[list[Case | Refusal]]:
    """Yield the results of `run_benchmark` source by source, each as soon as it is known."""
    drawing = _drawing(platform, conditions)
    # All are loaded first, since names are told apart before the first result, and only the first
    # with its weights; each is let go of when it is done.
    waiting: list[_Cases] = []
    for source in dict.fromkeys(sources):
        waiting.append(_Cases.load(source, platform, conditions, progress, drawing))
        if len(waiting) == 1 and conditions.accuracy:
            read_ahead(waiting[0].network.constants.values())
    named = Counter(cases.name for cases in waiting)
    while waiting:
        cases = waiting.pop(0)
        if named[cases.name] > 1:
            cases.name = cases.source
        yield cases.all(runtimes)


def run_case(
    source: str,
    platform: Platform,
    runtime: Runtime,
    conditions: BenchmarkConditions,
    progress: Callable[[str], None] = lambda what: None,
) -> Case:
    """Return the one case of `run_benchmark`; raise HexsimError if the runtime refuses it."""
    drawing = _drawing(platform, conditions)
    cases = _Cases.load(source, platform, conditions, progress, drawing)
    return cases.case(cases.given.deployment(runtime))


Drawing = Callable[[Workload], DrawnTimes]


def _drawing(platform: Platform, conditions: BenchmarkConditions) -> Drawing | None:
    """What times a workload on the drawn platforms, the same for all cases; None without draws."""
    count, pool = conditions.draws, conditions.pool
    if not count:
        return None
    if pool is not None:
        return partial(drawn_by, pool, platform, count)
    platforms = draws(platform, count)
    return lambda workload: drawn(platforms, lambda changed: changed.simulate(workload))


def _alone(workload: Workload) -> Workload:
    """The workload without other clients and without a trace."""
    return replace(workload, background=(), recorded=False)


def _fastest(deployment: Deployment, perf_profile: str | None) -> tuple[Found, float]:
    """The fastest cut, and what it saves against the sections that the model has."""
    prices = Prices(LayerTimes(deployment, perf_profile))
    found = search(prices)
    now = prices.simulated(compiled_sections(deployment))
    return found, now.total_us - found.best_us


class _Cases:
    """What the runtimes share of one network, each part made when first needed."""

    def __init__(
        self,
        source: str,
        given: GivenModel,
        platform: Platform,
        conditions: BenchmarkConditions,
        progress: Callable[[str], None],
        drawing: Drawing | None,
    ) -> None:
        self.given = given
        self.network = given.model.network
        self.name = self.network.name
        self.source = source
        self._platform = platform
        self._conditions = conditions
        self._progress = progress
        self._drawing = drawing
        self._source_of_inputs = conditions.inputs(self.network) if conditions.inputs else None
        if self._source_of_inputs is not None:
            given.calibrate_on(self._source_of_inputs.feeds)

    @classmethod
    def load(
        cls,
        source: str,
        platform: Platform,
        conditions: BenchmarkConditions,
        progress: Callable[[str], None],
        drawing: Drawing | None,
    ) -> _Cases:
        """Load the network that `source` names."""
        progress(f"loading {source}")
        read = load_container(source, input_dims=conditions.input_dims)
        given = GivenModel(source, read, platform, conditions.preparation, progress)
        return cls(source, given, platform, conditions, progress, drawing)

    def all(self, runtimes: Sequence[Runtime]) -> list[Case | Refusal]:
        """What becomes of the network on each of the runtimes."""
        results: list[Case | Refusal] = []
        for runtime in runtimes:
            try:
                deployment = self.given.deployment(runtime)
            except HexsimError as error:
                results.append(Refusal(self.name, self.source, runtime, str(error)))
            else:
                choice = runtime == "aip" and len(runtimes) > 1
                results.append(self.case(deployment, choose_cut=choice))
        return results

    def case(self, deployment: Deployment, *, choose_cut: bool = False) -> Case:
        """Time a deployment and compare answers, as far as the conditions ask for it.

        With `choose_cut` the case also tells what the fastest cut would save.
        """
        conditions, runtime = self._conditions, deployment.runtime
        self._progress(f"{self.name} on {runtime}")
        workload = deployment.workload(
            perf_profile=conditions.perf_profile,
            idle_ms=conditions.idle_ms,
            buffer=conditions.buffer,
            background=conditions.background,
            recorded=conditions.recorded,
        )
        platform = self._platform
        found = interference(platform, workload) if conditions.background else None
        timing = found.alone if found else platform.simulate(workload)
        cut, saved_us = None, 0.0
        if choose_cut:
            cut, saved_us = _fastest(deployment, conditions.perf_profile)
        return Case(
            network=self.name,
            source=self.source,
            chip=platform.chip.name,
            stack=platform.stack.name,
            perf_profile=conditions.perf_profile or platform.stack.default_profile,
            buffer=platform.stack.buffer(conditions.buffer),
            builtin=is_builtin(self.source),
            inputs=self.network.inputs,
            runtime=runtime,
            timing=timing,
            memory=deployment.memory(conditions.buffer),
            energy=platform.energy(timing, conditions.perf_profile),
            uncertainty=self._interval(workload, timing, runtime),
            agreement=self._agreements.of(deployment) if conditions.accuracy else None,
            interference=found,
            given=self.given.given(runtime),
            cut=cut,
            saved_us=saved_us,
            overrides=self.given.use(runtime),
            drawn=self._drawn(workload, runtime),
            evaluated=self._source_of_inputs.description if self._source_of_inputs else SEEDED,
            subnets=len(deployment.subnets),
            ideal_cpu=platform.ideal_cpu,
            anchor=platform.anchor,
        )

    def _interval(self, workload: Workload, timing: Result, runtime: Runtime) -> Uncertainty | None:
        """How far the time of a workload alone may be off, if the conditions ask for it."""
        scope = self._conditions.sweep
        if scope is None or not (scope == "everything" or timing.uses_hta):
            return None
        self._progress(f"{self.name} on {runtime}: uncertainty")
        alone = _alone(workload)
        return sweep(self._platform, lambda changed: changed.simulate(alone), scope)

    def _drawn(self, workload: Workload, runtime: Runtime) -> DrawnTimes | None:
        """Times of a workload alone on the drawn platforms, if the conditions ask for them."""
        if self._drawing is None:
            return None
        self._progress(f"{self.name} on {runtime}: {self._conditions.draws} draws")
        return self._drawing(_alone(workload))

    @cached_property
    def _agreements(self) -> Agreements:
        """How near runtimes come to the float network, on the inputs of the conditions."""
        if self._source_of_inputs is not None:
            return Agreements(self.network, self._source_of_inputs.feeds)
        seeded = seeded_calibration(self.network, EVALUATION_INPUTS, EVALUATION_SEED)
        return Agreements(self.network, lambda: seeded)
