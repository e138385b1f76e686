"""Run networks on runtimes of one platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from hexsim.datasheets.background import Background
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment import Deployment
from hexsim.deployment.calibration_profile import CalibrationProfile
from hexsim.deployment.given import Given, GivenModel, Preparation
from hexsim.deployment.platform import Anchor, Platform
from hexsim.dlc.loading import is_builtin, load_container
from hexsim.energy import Energy
from hexsim.errors import HexsimError
from hexsim.graph.reading_ahead import read_ahead
from hexsim.inputs.seeded import EVALUATION_INPUTS, EVALUATION_SEED, seeded_calibration
from hexsim.inputs.split import InputRoles
from hexsim.memory import Footprint
from hexsim.quantization.model import Model, Reference
from hexsim.quantization.overrides.use import OverrideUse
from hexsim.runtimes import FIXED_POINT, MAIN_ENGINE, Runtime
from hexsim.simulation.simulator import Workload
from hexsim.studies.draws import FEW, DrawnTimes, drawn, draws, few_draws
from hexsim.studies.interference import Interference, interference
from hexsim.studies.shared_draws import drawn_by
from hexsim.studies.uncertainty import Scope, Uncertainty, sweep
from hexsim.timing.results import Result

if TYPE_CHECKING:
    from hexsim.accuracy.agreement import Agreement
    from hexsim.accuracy.agreements import Agreements
    from hexsim.deployment.offline_hta import HtaChoice
    from hexsim.studies.pool import Pool

SEEDED = "seeded inputs"
"""Description of the inputs on which answers are compared by default."""


@dataclass(frozen=True)
class Case:
    """One network on one runtime: its simulated time and, if requested, uncertainty and agreement.

    `source` is the file or built-in network as the user named it. `builtin` is True for a built-in
    network, whose measurements are known. `hta_choice` says why aip got its sections, where they
    were chosen here. `overrides` is the use of the overrides of a float file that is
    quantised, here or at load. `timing`, `memory` and `energy` are for the network alone;
    `interference` compares it with a run beside other clients. `evaluated` describes the inputs
    that judge, and `calibrated` those on which the network was quantised here or at load (None
    without values: times do not depend on ranges). `drawn` are times with all constants drawn at
    once, the same draws for all cases of a platform. `graph_note` says what initialisation does
    with prepared graphs of the file. `subnets` is the number of its subnets; `refused` has the
    layers that run on the CPU instead, by name, each with the reason. `reference` is what
    `agreement` compares with.
    """

    network: str
    source: str
    chip: str
    stack: str
    software: str
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
    hta_choice: HtaChoice | None = None
    overrides: OverrideUse | None = None
    drawn: DrawnTimes | None = None
    evaluated: str = SEEDED
    calibrated: str | None = None
    subnets: int = 1
    refused: Mapping[str, str] = field(default_factory=dict)
    ideal_cpu: bool = False
    anchor: Anchor | None = None
    vtcm_mb: float | None = None
    graph_note: str | None = None
    reference: Reference = "float network"

    @property
    def as_simulated(self) -> tuple[str, ...] | None:
        """The classes of layers without a factor, if others have one by a profile."""
        if not isinstance(self.anchor, CalibrationProfile):
            return None
        return self.anchor.as_simulated(self.runtime, self.timing.layers)


def _refused(deployment: Deployment) -> dict[str, str]:
    """Return the layers that fall back to the CPU, each with the reason."""
    fallbacks = (cut for cut in deployment.subnets if cut.engine != MAIN_ENGINE[deployment.runtime])
    return {
        layer.name: cut.reason for cut in fallbacks if cut.engine == "cpu" for layer in cut.layers
    }


@dataclass(frozen=True)
class Refusal:
    """A network that a runtime of a chip refuses, with the reason as a sentence."""

    network: str
    source: str
    chip: str
    runtime: Runtime
    reason: str


def place_names(results: Iterable[Case | Refusal]) -> Callable[[Case | Refusal], str]:
    """Return a function that names where a result belongs: its runtime.

    With its chip if `results` are of several chips.
    """
    several = len({result.chip for result in results}) > 1
    return lambda result: f"{result.runtime} of {result.chip}" if several else result.runtime


@dataclass(frozen=True)
class BenchmarkConditions:
    """The conditions that all cases of one benchmark share.

    `sweep` gives times an interval: by a sweep of the constants, or by a few draws (None: none).
    `draws` is the number of draws of all constants, and `pool` has workers that share them (None:
    this process). `inputs` returns the inputs that judge a model and those that calibrate it (None:
    seeded ones).
    """

    perf_profile: str | None = None
    idle_ms: float = 0.0
    buffer: BufferType | None = None
    preparation: Preparation = field(default_factory=Preparation)
    sweep: Scope | None = None
    draws: int = 0
    pool: Pool | None = None
    accuracy: bool = True
    inputs: Callable[[Model], InputRoles] | None = None
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
    """Yield the result of each source (file or built-in network) and runtime, in that order.

    Networks are named by their sources where several sources hold networks of the same name.
    `progress` is called with each step.
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
    # All are loaded first, since equal names must be known before the first result, but only the
    # first with its weights; each is released when it is done.
    waiting: list[_Cases] = []
    for source in dict.fromkeys(sources):
        waiting.append(_Cases(source, platform, conditions, progress, drawing))
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
    cases = _Cases(source, platform, conditions, progress, drawing)
    return cases.case(cases.given.deployment(runtime, conditions.perf_profile))


Drawing = Callable[[Workload], DrawnTimes]


def _drawing(platform: Platform, conditions: BenchmarkConditions) -> Drawing | None:
    """Return a function that times a workload on the drawn platforms; None without draws."""
    count, pool = conditions.draws, conditions.pool
    if not count:
        return None
    if pool is not None:
        return partial(drawn_by, pool, platform, count)
    platforms = draws(platform, count)
    return lambda workload: drawn(platforms, lambda changed: changed.simulate(workload))


def _alone(workload: Workload) -> Workload:
    return replace(workload, background=(), recorded=False)


class _Cases:
    """The network that `source` names, and what its runtimes share, computed when first needed."""

    def __init__(
        self,
        source: str,
        platform: Platform,
        conditions: BenchmarkConditions,
        progress: Callable[[str], None],
        drawing: Drawing | None,
    ) -> None:
        progress(f"loading {source}")
        container = load_container(source, input_dims=conditions.input_dims)
        preparation = replace(conditions.preparation, times_only=not conditions.accuracy)
        self.given = given = GivenModel(source, container, platform, preparation, progress)
        self.network = given.model.network
        self.name = self.network.name
        self.source = source
        self._platform = platform
        self._conditions = conditions
        self._progress = progress
        self._drawing = drawing
        self._few: list[tuple[tuple[object, ...], DrawnTimes]] = []
        self._inputs = conditions.inputs(given.model) if conditions.inputs else None
        given.calibrate_on(self._inputs)

    def all(self, runtimes: Sequence[Runtime]) -> list[Case | Refusal]:
        """Return the result of the network on each of the runtimes."""
        results: list[Case | Refusal] = []
        conditions = self._conditions
        for runtime in runtimes:
            try:
                deployment = self.given.deployment(runtime, conditions.perf_profile)
            except HexsimError as error:
                refusal = Refusal(
                    self.name, self.source, self._platform.chip.name, runtime, str(error)
                )
                results.append(refusal)
            else:
                results.append(self.case(deployment))
        return results

    def case(self, deployment: Deployment) -> Case:
        """Time a deployment and compare answers, if the conditions say so."""
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
        slowdowns = interference(platform, workload) if conditions.background else None
        timing = slowdowns.alone if slowdowns else platform.simulate(workload)
        return Case(
            network=self.name,
            source=self.source,
            chip=platform.chip.name,
            stack=platform.stack.name,
            software=platform.software,
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
            interference=slowdowns,
            given=self.given.given(runtime),
            hta_choice=self.given.hta_choice if runtime == "aip" else None,
            overrides=self.given.use(runtime),
            drawn=self._drawn(workload, runtime),
            evaluated=self._inputs.judging.description if self._inputs else SEEDED,
            calibrated=self._calibration(runtime),
            subnets=len(deployment.subnets),
            refused=_refused(deployment),
            ideal_cpu=platform.ideal_cpu,
            anchor=platform.anchor,
            vtcm_mb=platform.vtcm_mb,
            graph_note=deployment.graph_note,
            reference=self.given.model.reference,
        )

    def _calibration(self, runtime: Runtime) -> str | None:
        calibrates = runtime in FIXED_POINT and not self.given.model.quantized
        if not calibrates or not self._conditions.accuracy:
            return None
        return self._inputs.calibration if self._inputs else SEEDED

    def _interval(self, workload: Workload, timing: Result, runtime: Runtime) -> Uncertainty | None:
        scope, alone = self._conditions.sweep, _alone(workload)
        if scope is None:
            return None
        self._progress(f"{self.name} on {runtime}: uncertainty")
        if scope == "a few draws":
            return few_draws(self._few_times(alone), timing)
        return sweep(self._platform, lambda changed: changed.simulate(alone), scope)

    @cached_property
    def _platforms(self) -> tuple[Platform, ...]:
        return draws(self._platform, FEW)

    def _few_times(self, workload: Workload) -> DrawnTimes:
        """Return the times on few draws, shared by runtimes whose plans take equal times."""
        (job,) = workload.jobs
        timed = job.plan.timed
        for known, times in self._few:
            if known == timed:
                return times
        times = drawn(self._platforms, lambda changed: changed.simulate(workload))
        self._few.append((timed, times))
        return times

    def _drawn(self, workload: Workload, runtime: Runtime) -> DrawnTimes | None:
        if self._drawing is None:
            return None
        self._progress(f"{self.name} on {runtime}: {self._conditions.draws} draws")
        return self._drawing(_alone(workload))

    @cached_property
    def _agreements(self) -> Agreements:
        """Agreements of runtimes with the float network, on the inputs of the conditions."""
        # It loads the kernels, which times alone do not need.
        from hexsim.accuracy.agreements import Agreements

        if self._inputs is not None:
            source = self._inputs.judging
            return Agreements(self.network, source.feeds, source.items, self._inputs.labels)
        seeded = seeded_calibration(self.network, EVALUATION_INPUTS, EVALUATION_SEED)
        return Agreements(self.network, lambda: seeded)
