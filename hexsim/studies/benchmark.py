"""Run networks on runtimes of one platform, and find what is published of the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from hexsim.datasheets import measurements
from hexsim.datasheets.background import Background
from hexsim.datasheets.measurements import Measurement, outcome
from hexsim.datasheets.measurements.calibration import calibration
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment import Deployment
from hexsim.deployment.calibration import CalibrationProfile
from hexsim.deployment.findings import findings_of
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import Preparation, SourceModel
from hexsim.dlc.loading import is_builtin, load_container
from hexsim.errors import HexsimError, step
from hexsim.files.remembered import Remembered
from hexsim.graph.reading_ahead import read_ahead
from hexsim.inputs.seeded import recognises_pictures
from hexsim.inputs.source import InputRoles, judging_source
from hexsim.records import dataclass, field, replace
from hexsim.results.accuracy import Accuracy
from hexsim.results.benchmark import Inference, Refusal
from hexsim.results.costs import Figures
from hexsim.runtimes import FIXED_POINT, Runtime
from hexsim.simulation.simulator import Workload
from hexsim.studies.conditions import call_of
from hexsim.studies.inferences import (
    draws_of,
    energy_use,
    interference,
    interval_of,
    platform_fields,
    time_error,
    times_of,
)
from hexsim.studies.remedies import remedied
from hexsim.studies.roofline import roofline
from hexsim.studies.uncertainty import (
    FEW,
    DrawnTimes,
    Scope,
    Uncertainty,
    drawn,
    drawn_by,
    draws,
    few_draws,
    sweep,
)
from hexsim.timing.results import Result

if TYPE_CHECKING:
    from hexsim.accuracy.agreement import Agreements
    from hexsim.studies.pool import Pool


class Conditions(NamedTuple):
    """What published rows are looked up by."""

    network: str
    chip: str
    stack: str
    runtime: Runtime
    buffer: str
    perf_profile: str


def measured(case: Conditions, *, forward: bool) -> tuple[Measurement, ...]:
    """Return the rows of a built-in network, shortest first; two are the bounds of a range.

    Rows apply only to inferences with the buffers and the performance profile that they state.
    """
    rows = measurements.find(case.network, case.chip, case.stack, case.runtime, forward=forward)
    return tuple(
        row
        for row in rows
        if row.buffer in (None, case.buffer) and row.perf_profile in (None, case.perf_profile)
    )


def measured_figures(
    case: Conditions, among: Callable[[Measurement], bool] = lambda row: True
) -> Figures:
    """Return the published latencies in ms, those of the rows for which `among` holds."""
    total, forward = (
        tuple(row.latency_ms for row in measured(case, forward=of_forward) if among(row))
        for of_forward in (False, True)
    )
    return Figures(total_inference=total, forward_propagate=forward)


def left_out_figures(case: Conditions) -> Figures:
    """Return what a fit without the rows of the chip predicts of the published latencies, in ms."""
    total, forward = (
        tuple(
            predicted
            for row in measured(case, forward=of_forward)
            if (predicted := calibration().predicted_ms(row.key, "chip left out")) is not None
        )
        for of_forward in (False, True)
    )
    return Figures(total_inference=total[:1], forward_propagate=forward[:1])


def is_outside(row: Measurement, uncertainty: Uncertainty | None) -> bool:
    """Return whether a measured time is outside the simulated interval by more than its resolution.

    False for the interval of a few draws, whose ends are too rough to say so.
    """
    if uncertainty is None or uncertainty.scope != "everything":
        return False
    low, high = (
        (times.forward_us if row.forward else times.total_us) / 1e3
        for times in (uncertainty.low, uncertainty.high)
    )
    return not low - row.resolution_ms <= row.latency_ms <= high + row.resolution_ms


SEEDED = "seeded inputs"
"""Description of the inputs on which answers are compared by default."""


def _as_simulated(platform: Platform, runtime: Runtime, timing: Result) -> tuple[str, ...] | None:
    """Return the classes of layers without a factor, if others have one by a profile."""
    if not isinstance(platform.anchor, CalibrationProfile):
        return None
    return platform.anchor.as_simulated(runtime, timing.layers)


@dataclass(frozen=True)
class BenchmarkConditions:
    """The conditions that all cases of one benchmark share.

    `sweep` gives times an interval: by a sweep of the constants, or by a few draws (None: none).
    `draws` is the number of draws of all constants, and `pool` has workers that share them (None:
    this process). `inputs` returns the inputs that judge a model and those that calibrate it (None:
    seeded ones). `roofs` puts the layers under the roofs of the engine.
    """

    perf_profile: str | None = None
    idle_ms: float = 0.0
    buffer: BufferType | None = None
    preparation: Preparation = field(default_factory=Preparation)
    sweep: Scope | None = None
    draws: int = 0
    pool: Pool | None = None
    accuracy: bool = True
    inputs: Callable[[SourceModel], InputRoles] | None = None
    input_dims: Mapping[str, Sequence[int]] = field(default_factory=dict)
    background: tuple[Background, ...] = ()
    recorded: bool = False
    roofs: bool = False

    @classmethod
    def of(cls, platform: Platform, how: Mapping[str, Any], **others: Any) -> BenchmarkConditions:
        """Return the conditions by `Settings`; `others` are the fields that no setting gives."""
        return cls(
            **call_of(platform, how),
            preparation=Preparation.of(how),
            input_dims=how.get("input_dims") or {},
            **others,
        )


def run_benchmark(
    sources: Sequence[str],
    platform: Platform,
    runtimes: Sequence[Runtime],
    conditions: BenchmarkConditions,
) -> Iterator[Inference | Refusal]:
    """Yield the result of each source (file or built-in network) and runtime, in that order.

    Networks are named by their sources where several sources hold networks of the same name.
    """
    for results in by_network(sources, platform, runtimes, conditions):
        yield from results


def by_network(
    sources: Sequence[str],
    platform: Platform,
    runtimes: Sequence[Runtime],
    conditions: BenchmarkConditions,
) -> Iterator[list[Inference | Refusal]]:
    """Yield the results of `run_benchmark` source by source, each as soon as it is known."""
    drawing = _drawing(platform, conditions)
    # All are loaded first, since equal names must be known before the first result, but only the
    # first with its weights; each is released when it is done.
    waiting: list[_NetworkCases] = []
    for source in dict.fromkeys(sources):
        waiting.append(_NetworkCases(source, platform, conditions, drawing))
        if len(waiting) == 1 and conditions.accuracy:
            read_ahead(waiting[0].network.constants.values())
    named = Counter(cases.name for cases in waiting)
    while waiting:
        cases = waiting.pop(0)
        if named[cases.name] > 1:
            cases.name = cases.source
        yield cases.all(runtimes)


def answered(
    results: Iterable[Inference | Refusal],
) -> tuple[tuple[Inference, ...], tuple[Refusal, ...]]:
    """Divide results; raise HexsimError with the first reason if there is nothing but refusals."""
    every = list(results)
    cases = tuple(result for result in every if isinstance(result, Inference))
    refused = tuple(result for result in every if isinstance(result, Refusal))
    if refused and not cases:
        raise HexsimError(refused[0].reason)
    return cases, refused


def run_case(
    source: str, platform: Platform, runtime: Runtime, conditions: BenchmarkConditions
) -> Inference:
    """Return the one case of `run_benchmark`; raise HexsimError if the runtime refuses it."""
    drawing = _drawing(platform, conditions)
    cases = _NetworkCases(source, platform, conditions, drawing)
    return cases.case(cases.given.deployment(runtime, conditions.perf_profile))


Drawing = Callable[[Workload], DrawnTimes]


def _drawing(platform: Platform, conditions: BenchmarkConditions) -> Drawing | None:
    """Return a function that times a workload on the drawn platforms; None without draws."""
    count, pool = conditions.draws, conditions.pool
    if not count:
        return None
    if pool is not None:
        return partial(drawn_by, pool, platform, count)
    return partial(drawn, draws(platform, count))


def _alone(workload: Workload) -> Workload:
    return replace(workload, background=(), recorded=False)


class _NetworkCases:
    """The network that `source` names, and what its runtimes share, computed when first needed."""

    def __init__(
        self,
        source: str,
        platform: Platform,
        conditions: BenchmarkConditions,
        drawing: Drawing | None,
    ) -> None:
        step(f"loading {source}")
        container = load_container(source, input_dims=conditions.input_dims)
        preparation = conditions.preparation
        self.given = given = SourceModel(source, container, platform, preparation)
        self.network = given.model.network
        self.name = self.network.name
        self.source = source
        self._platform = platform
        self._conditions = conditions
        self._drawing = drawing
        self._few = Remembered[tuple[object, ...], DrawnTimes]()
        self._inputs: InputRoles | None = None
        if conditions.inputs is not None:
            self._inputs = conditions.inputs(given)
        elif conditions.accuracy and recognises_pictures(self.network):
            roles = InputRoles(judging := judging_source(self.network), judging.classes)
            self._inputs = roles if given.coded else roles.quantizing(self.network)
        if conditions.accuracy:
            given.calibrate_on(self._inputs)

    def all(self, runtimes: Sequence[Runtime]) -> list[Inference | Refusal]:
        results: list[Inference | Refusal] = []
        conditions = self._conditions
        for runtime in runtimes:
            try:
                deployment = self.given.deployment(runtime, conditions.perf_profile)
            except HexsimError as error:
                results.append(
                    Refusal(
                        network=self.name,
                        source=self.source,
                        chip=self._platform.chip.name,
                        runtime=runtime,
                        reason=str(error),
                    )
                )
            else:
                results.append(self.case(deployment))
        return results

    def case(self, deployment: Deployment) -> Inference:
        """Time a deployment and compare answers, if the conditions say so."""
        conditions, runtime = self._conditions, deployment.runtime
        step(f"{self.name} on {runtime}")
        workload = deployment.workload(
            perf_profile=conditions.perf_profile,
            idle_ms=conditions.idle_ms,
            buffer=conditions.buffer,
            background=conditions.background,
            recorded=conditions.recorded,
        )
        platform = self._platform
        timing, beside = interference(platform, workload)
        timing = remedied(deployment, deployment.explained(timing))
        energy = platform.energy(timing, conditions.perf_profile)
        profile = conditions.perf_profile or platform.stack.default_profile
        buffer = platform.stack.buffer(conditions.buffer)
        doubt = self._interval(workload, timing, runtime)
        drawn = self._drawn(workload, runtime)
        choice = self.given.hta_choice if runtime == "aip" else None
        calibrates = runtime in FIXED_POINT and not self.given.coded
        return Inference(
            network=self.name,
            source=self.source,
            **platform_fields(platform),
            ideal_cpu=platform.ideal_cpu,
            runtime=runtime,
            perf_profile=profile,
            buffer=buffer,
            builtin=is_builtin(self.source),
            inputs=self.network.inputs,
            input_dims={name: tuple(dims) for name, dims in conditions.input_dims.items()},
            expected_error=time_error(platform, runtime),
            as_simulated=_as_simulated(platform, runtime, timing),
            **times_of(timing, energy),
            **self._published(
                Conditions(
                    self.name, platform.chip.name, platform.stack.name, runtime, buffer, profile
                ),
                doubt,
            ),
            draws=None if drawn is None else draws_of(drawn),
            memory=deployment.memory(conditions.buffer),
            energy=energy_use(energy),
            accuracy=self._accuracy(deployment) if conditions.accuracy else None,
            background=beside,
            given=self.given.file_form(runtime),
            precision=self.given.precision(deployment),
            hta_choice=None if choice is None else choice.sentence,
            overrides=self.given.use(runtime),
            calibrated_on=self.given.calibrated_on if calibrates else None,
            subnets=len(deployment.subnets),
            graph_note=deployment.graph_note,
            findings=findings_of(deployment, conditions.perf_profile, at_load=conditions.accuracy),
            roofline=roofline(timing, platform, runtime, profile) if conditions.roofs else None,
        )

    def _published(self, where: Conditions, doubt: Uncertainty | None) -> dict[str, Any]:
        """Return the interval, and what is published of a built-in network."""
        if not is_builtin(self.source):
            return {"uncertainty": None if doubt is None else interval_of(doubt, Figures())}
        outside = measured_figures(where, lambda row: is_outside(row, doubt))
        return {
            "measured_ms": measured_figures(where),
            "left_out_ms": left_out_figures(where),
            "measured_outcome": outcome(where.network, where.chip, where.stack, where.runtime),
            "uncertainty": None if doubt is None else interval_of(doubt, outside),
        }

    def _accuracy(self, deployment: Deployment) -> Accuracy:
        compared_on = self._inputs.judging.description if self._inputs else SEEDED
        reference = self.given.model.reference
        agreement = self._agreements.of(deployment)
        return structs.replace(agreement, compared_on=compared_on, sqnr_reference=reference)

    def _interval(self, workload: Workload, timing: Result, runtime: Runtime) -> Uncertainty | None:
        scope, alone = self._conditions.sweep, _alone(workload)
        if scope is None:
            return None
        step(f"{self.name} on {runtime}: uncertainty")
        drawn = few_draws(self._few_times(alone), timing)
        if scope == "a few draws":
            return drawn
        swept = sweep(self._platform, lambda changed: changed.simulate(alone), scope)
        if scope == "tensor engine":
            return swept
        # A time has one interval, whether or not the constants behind it are named.
        return replace(swept, low=drawn.low, high=drawn.high)

    @cached_property
    def _platforms(self) -> tuple[Platform, ...]:
        return draws(self._platform, FEW)

    def _few_times(self, workload: Workload) -> DrawnTimes:
        """Return the times on few draws, shared by runtimes whose plans take equal times."""
        (job,) = workload.jobs
        return self._few.part(job.plan.timed, lambda: drawn(self._platforms, workload))

    def _drawn(self, workload: Workload, runtime: Runtime) -> DrawnTimes | None:
        if self._drawing is None:
            return None
        step(f"{self.name} on {runtime}: {self._conditions.draws} draws")
        return self._drawing(_alone(workload))

    @cached_property
    def _agreements(self) -> Agreements:
        """Agreements of runtimes with the float network, on the inputs of the conditions."""
        # It loads the kernels, which times alone do not need.
        from hexsim.accuracy.agreement import Agreements

        if self._inputs is not None:
            source = self._inputs.judging
            return Agreements(self.network, source.feeds, source.items, self._inputs.labels)
        return Agreements(self.network, judging_source(self.network).feeds)
