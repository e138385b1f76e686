"""Validation: a runtime compared with float, which layers matter, and why they lose accuracy.

Inputs may be divided among workers; the result equals that of one process. A worker gets the
network once and reads the inputs of its part itself, so it must see their files. Its results are
small, and are added up here in the order of the inputs (`hexsim.accuracy.validation`). Images
never pass through the scheduler.
"""

import threading
from collections.abc import Callable
from itertools import islice
from typing import Any

from msgspec.structs import replace

from hexsim.accuracy.diagnosis import diagnose
from hexsim.accuracy.experiments import sensitivity, try_remedies
from hexsim.accuracy.outputs import OutputJudge
from hexsim.accuracy.validation import (
    Labels,
    Observed,
    Observer,
    Totals,
    counted,
    distributions,
    validate,
    validation_of,
)
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.findings import findings_of
from hexsim.deployment.platform import Platform
from hexsim.deployment.source_model import precision_of
from hexsim.errors import HexsimError, counting, spelled
from hexsim.graph.ir import Network
from hexsim.inputs.source import InputRoles, InputSource
from hexsim.quantization.model import Model
from hexsim.records import dataclass
from hexsim.results import validation as results
from hexsim.runtimes import FIXED_POINT, FileForm, Runtime
from hexsim.studies.cluster import threads_of_worker
from hexsim.studies.judging import ComparedModel
from hexsim.studies.pool import Pool, in_order, ranges

EXPERIMENT_INPUTS = 16
"""Number of inputs for sensitivity and explanations, the first of the list.

Each is run once or twice per layer, and the ranking changes little with more."""

EXPLAINED_LAYERS = 5
"""Number of layers that are explained, those that add most noise."""

_LARGEST = 32
"""Largest number of inputs in a part: a second of a small network, lost when a worker dies."""
_PARTS = 4
"""Least number of parts for each worker, if there are enough inputs, so that all end together."""
_ONE_AT_A_TIME = threading.Lock()
"""Only one set of activations is in memory; a worker uses all its threads for it."""


@dataclass(frozen=True)
class Question:
    """What is compared, on what, and which experiments are done; `threads` 0 is one per core.

    `note` is added to that on the encodings. `hta` compiles sections for the tensor engine into a
    model that is quantised here. `sensitivity` ranks layers, `explain` examines the worst,
    `counted` counts the values of the worst tensors. `pool` shares the inputs out to workers.
    """

    given: ComparedModel
    platform: Platform
    runtime: Runtime
    roles: InputRoles
    note: str = ""
    hta: bool = True
    sensitivity: bool = False
    explain: bool = False
    counted: bool = False
    threads: int = 0
    pool: Pool | None = None


def require_fixed_point(runtime: Runtime, *parts: object) -> None:
    """Raise HexsimError if anything is `parts` that a runtime which computes in floats has not."""
    asked = any(part is not None and part is not False for part in parts)
    if asked and runtime not in FIXED_POINT:
        names = map(spelled, ("sensitivity", "explain", "override_params"))
        raise HexsimError(
            f"runtime {runtime} computes in floats; {', '.join(names)} and "
            f"{spelled('calibration')} are for {', '.join(sorted(FIXED_POINT))}"
        )


def run_validation(question: Question) -> results.Validation:
    """Compare a runtime with float.

    Raises HexsimError if the runtime does not take the model, or an input cannot be read.
    """
    given, platform, runtime = question.given, question.platform, question.runtime
    network, source = given.model.network, question.roles.judging
    if runtime in FIXED_POINT:
        loaded, encodings = given.coded(platform, question.roles, runtime, hta=question.hta)
    else:
        loaded, encodings = _in_floats(given.model, runtime)
    deployment = deploy(loaded, platform, runtime)
    compared = _compared(question, deployment)
    notes = (source.description, encodings + question.note, given.reference, *loaded.notes)
    if runtime == "aip":
        notes += (f"{len(deployment.on_hta)} of {len(network.layers)} layers on the tensor engine",)
    kind: FileForm = "quantised file"
    calibrated_on = ""
    if not given.model.quantized and question.roles.calibrating:
        at_load = platform.load_rule(runtime, quantized=False).effect == "quantise"
        kind = "float" if at_load else "quantised here"
        calibrated_on, *_ = question.roles.calibration.split(": ")  # a note has how many
    words = precision_of(deployment, kind, calibrated_on)
    answer = replace(compared, notes=notes, graph=network, precision=words)
    if runtime not in FIXED_POINT:
        return answer
    answer = replace(answer, findings=findings_of(deployment, at_load=True))
    answer = _with_experiments(answer, question, deployment)
    if question.counted:
        answer = replace(answer, distributions=_counted(question, deployment, compared))
    return answer


def examined(deployment: Deployment, roles: InputRoles, perf_profile: str) -> results.Validation:
    """Compare a deployment with float, count the values of the worst tensors, and find losses."""
    source = roles.judging
    compared = validate(deployment, source.feeds(), batch=source.batch, items=source.items)
    counts = distributions(
        deployment.network, compared.layers, source.feeds(), batch=source.batch, items=source.items
    )
    calibrated = (f"quantised on {roles.calibration}",) if roles.calibrating else ()
    losses = findings_of(deployment, perf_profile, at_load=True)
    return replace(
        compared, notes=(source.description, *calibrated), distributions=counts, findings=losses
    )


def _in_floats(model: Model, runtime: Runtime) -> tuple[Model, str]:
    if model.quantized:
        return model, f"{runtime} computes in floats, with constants as the file holds them"
    return model, f"{runtime} computes in floats, nothing is quantised"


def _compared(question: Question, deployment: Deployment) -> results.Validation:
    source, labels, pool = question.roles.judging, question.roles.labels, question.pool
    how: dict[str, Any] = {"labels": labels, "threads": question.threads}
    how["original"] = question.given.original
    title = "validating" if pool is None else f"validating; {pool.description}"
    with counting(title, source.sets) as progress:
        if pool is not None:
            return validate_sharded(pool, deployment, source, progress=progress, **how)
        how |= {"batch": source.batch, "items": source.items}
        return validate(deployment, source.feeds(), progress=progress, **how)


def _with_experiments(
    answer: results.Validation, question: Question, deployment: Deployment
) -> results.Validation:
    """Add which layers matter, and why the worst lose accuracy, if that is asked."""
    if not (question.sensitivity or question.explain):
        return answer
    judge = judge_of(deployment, question.roles.judging)
    if question.sensitivity:
        with counting("ranking layers", len(judge.takes)) as progress:
            ranked = sensitivity(deployment.loaded, judge, lambda done, total: progress(done))
        answer = replace(answer, sensitivity=ranked)
    if question.explain:
        errors = answer.layers
        worst = dict.fromkeys(row.layer for row in results.most_added(errors) if row.noise > 0)
        names = {layer.name for layer in deployment.network.layers}
        chosen = [name for name in worst if name in names][:EXPLAINED_LAYERS]
        answer = replace(
            answer,
            diagnoses=diagnose(deployment, errors, chosen, judge.inputs),
            remedies=try_remedies(deployment.loaded, errors, judge),
        )
    return answer


def _counted(
    question: Question, deployment: Deployment, compared: results.Validation
) -> tuple[results.Distribution, ...]:
    source = question.roles.judging
    with counting("counting values", source.sets) as progress:
        return distributions(
            deployment.network,
            compared.layers,
            source.feeds(),
            batch=source.batch,
            items=source.items,
            threads=question.threads,
            progress=progress,
        )


def judge_of(deployment: Deployment, source: InputSource) -> OutputJudge:
    """Return what judges experiments with layers: the first inputs, in float and as they are."""
    items = min(source.items, EXPERIMENT_INPUTS * source.batch)
    return OutputJudge(deployment, islice(source.feeds(), EXPERIMENT_INPUTS), items)


@dataclass(frozen=True)
class _ShardedInputs:
    """The data that all parts share."""

    observer: Observer
    inputs: InputSource
    labels: Labels | None


def validate_sharded(
    pool: Pool,
    deployment: Deployment,
    inputs: InputSource,
    *,
    labels: Labels | None = None,
    threads: int = 0,
    original: Network | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> results.Validation:
    """Do the same as `hexsim.accuracy.validation.validate` with the workers of `pool`.

    `threads` of a worker share the work of a layer, 0 for as many as the worker has. Raises
    HexsimError if a worker cannot read an input, or if workers die of some.
    """
    observer = Observer(deployment, inputs.batch, original, threads)
    shared = _ShardedInputs(observer, inputs.absolute(), labels)
    size = part_size(inputs.sets, max(1, pool.workers))
    totals = Totals(observer.paired)
    parts = pool.in_parts(_observe, shared, ranges(inputs.sets, size), "inputs")
    for part, observed in in_order(parts):
        totals.take(observed)
        progress(part.stop)
    return validation_of(deployment, totals, labelled=labels is not None)


def part_size(inputs: int, workers: int) -> int:
    """Return the number of inputs in a part."""
    return min(_LARGEST, max(1, inputs // (_PARTS * workers)))


def _observe(shared: _ShardedInputs, first: int, stop: int) -> Observed:
    """Observe a part; a worker runs this."""
    observer, inputs = shared.observer, shared.inputs
    feeds = inputs.feeds(first, stop)
    with _ONE_AT_A_TIME:
        observer.paired.threads = observer.paired.threads or threads_of_worker()
        return observer.observe(counted(feeds, inputs.batch, inputs.items, shared.labels, first))
