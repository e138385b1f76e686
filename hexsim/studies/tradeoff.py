"""Compare cost and accuracy of a float and a quantised file of one network on each runtime.

Both files are written and read back, so that sizes are those of .dlc files, and a runtime that
dequantises works with the weights of the quantised file.

A runtime that quantises a float file at load uses ranges of the inputs that calibrate, or of the
seeded ones of every command; the real one computes ranges for each input again. Accuracy
is measured on class scores, before a final softmax.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hexsim import dlc
from hexsim.accuracy.classification import Hits
from hexsim.accuracy.distance import Distance
from hexsim.accuracy.items import scores_of_items, unpadded
from hexsim.accuracy.scores import class_scores, compared_floats
from hexsim.deployment import AtLoad, Deployment, deploy
from hexsim.deployment.platform import Platform
from hexsim.display import Cell, DisplayTable, Shown
from hexsim.errors import HexsimError
from hexsim.files import scratch
from hexsim.graph.ir import Network
from hexsim.inputs.split import InputRoles
from hexsim.memory import Footprint
from hexsim.onnx_io.run.float_engine import FloatEngine
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.runtimes import FIXED_POINT, Runtime
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_MS

Kind = Literal["float", "quantised"]


@dataclass(frozen=True)
class TradeoffAccuracy:
    """The accuracy of one choice; counts of `hits` against labels need labels."""

    hits: Hits
    sqnr_db: float


@dataclass(frozen=True)
class TradeoffChoice:
    """One file on one runtime: `timing`, `memory` and `accuracy`, or the reason of its refusal.

    `loading` says in words how the runtime loads such a file.
    """

    file: Kind
    file_bytes: int
    runtime: Runtime
    loading: str
    timing: Result | None = None
    memory: Footprint | None = None
    accuracy: TradeoffAccuracy | None = None
    refusal: str | None = None


@dataclass(frozen=True, repr=False)
class Tradeoff(Shown):
    """All choices for a network, file by file, in the platform's order of runtimes."""

    network: str
    chip: str
    choices: tuple[TradeoffChoice, ...]

    def display_table(self) -> DisplayTable:
        """Return a row per choice; unknown figures of a refused one are None."""
        refused = sum(choice.refusal is not None for choice in self.choices)
        title = f"{self.network} on {self.chip}: {len(self.choices)} choices, {refused} refused"
        columns = ("file", "file_bytes", "runtime", "init_ms", "ms", "peak_bytes", "same_top1")
        rows = tuple(_row(choice) for choice in self.choices)
        return DisplayTable(title, (*columns, "sqnr_db", "at_load"), rows, bars="ms")


def _row(choice: TradeoffChoice) -> tuple[Cell, ...]:
    head = (choice.file, choice.file_bytes, choice.runtime)
    timing, memory, accuracy = choice.timing, choice.memory, choice.accuracy
    if timing is None or memory is None or accuracy is None:
        return (*head, None, None, None, None, None, f"refused: {choice.refusal}")
    times = (timing.init_ps / PS_PER_MS, timing.total_ps / PS_PER_MS)
    values = (memory.peak_bytes, accuracy.hits.same_top1, accuracy.sqnr_db)
    return (*head, *times, *values, choice.loading)


@dataclass(frozen=True)
class TradeoffConditions:
    """The conditions that all choices share.

    `overrides` are applied when the float file is quantised at load.
    """

    perf_profile: str | None = None
    idle_ms: float = 0.0
    cpu_fallback: bool = True
    overrides: Overrides = NO_OVERRIDES


def tradeoff(
    floats: Network | None,
    codes: Model,
    platform: Platform,
    inputs: InputRoles,
    conditions: TradeoffConditions | None = None,
    progress: Callable[[str], None] = lambda what: None,
) -> Tradeoff:
    """Compare a float network (None: there is none) and its quantised form on all runtimes.

    The reference is the float network, or without one the quantised network with float weights.
    """
    conditions = conditions or TradeoffConditions()
    models: dict[Kind, Model] = {"quantised": codes}
    if floats is not None:
        models = {"float": Model(floats), **models}
    with scratch() as folder:
        choices: list[TradeoffChoice] = []
        network = floats or codes.network
        bench = _Bench(network, platform, inputs, conditions)
        for kind, model in models.items():
            progress(f"writing the {kind} file")
            path = folder / f"{kind}.dlc"
            dlc.write(path, model)
            stored_model = dlc.read(path).model
            for runtime in platform.runtimes:
                progress(f"{kind} file on {runtime}")
                choices.append(bench.choice(kind, path.stat().st_size, stored_model, runtime))
    return Tradeoff(network.name, platform.chip.name, tuple(choices))


class _Bench:
    """Times and runs models; runtimes with equal arithmetic share results."""

    def __init__(
        self,
        reference: Network,
        platform: Platform,
        inputs: InputRoles,
        conditions: TradeoffConditions,
    ) -> None:
        self._reference, self._floats = class_scores(reference), compared_floats(reference)
        self._platform = platform
        self._source, self._labels = inputs.judging, inputs.labels
        self._conditions = conditions
        calibration = None if inputs.calibrating is None else inputs.calibrating.feeds
        self._at_load = AtLoad(reference, platform, calibration, conditions.overrides)
        self._known: dict[tuple[str, str, frozenset[str], frozenset[str]], TradeoffAccuracy] = {}

    def choice(self, kind: Kind, size: int, model: Model, runtime: Runtime) -> TradeoffChoice:
        """Return time and accuracy of one file on one runtime, or its refusal."""
        rule = self._platform.load_rule(runtime, quantized=model.quantized)
        if rule.effect == "refuse":
            return TradeoffChoice(kind, size, runtime, "refused", refusal=rule.sentence)
        at_load = self._at_load if rule.effect == "quantise" else None
        fallback = self._conditions.cpu_fallback
        try:
            deployment = deploy(
                model, self._platform, runtime, cpu_fallback=fallback, at_load=at_load
            )
        except HexsimError as error:
            return TradeoffChoice(kind, size, runtime, rule.sentence, refusal=str(error))
        timing = deployment.simulate(
            perf_profile=self._conditions.perf_profile, idle_ms=self._conditions.idle_ms
        )
        accuracy = self._accuracy(kind, deployment)
        return TradeoffChoice(
            kind, size, runtime, rule.sentence, timing, deployment.memory(), accuracy
        )

    def _accuracy(self, kind: Kind, deployment: Deployment) -> TradeoffAccuracy:
        """Return the accuracy; integer runtimes with equal values, weights and engines share it."""
        runtime = deployment.runtime
        values = "quantised at load" if deployment.quantizes else kind
        arithmetic = "integer" if runtime in FIXED_POINT else runtime
        key = (values, arithmetic, deployment.signed_layers, deployment.on_hta)
        if key not in self._known:
            self._known[key] = self._measured(deployment)
        return self._known[key]

    def _measured(self, deployment: Deployment) -> TradeoffAccuracy:
        executor = deployment.over(class_scores(deployment.network)).executor()
        engine, hits, distance = FloatEngine(self._reference), Hits(), Distance()
        batch, labels = self._source.batch, self._labels
        # The list is read twice, so that each side can read ahead by itself.
        floats = map(engine.run, self._source.feeds())
        codes = executor.run_each(self._source.feeds())
        for index, pair in enumerate(zip(floats, codes, strict=True)):
            count = min(batch, self._source.items - index * batch)
            expected, actual = (unpadded(values, batch, count) for values in pair)
            for name in self._floats:
                distance.add(expected[name], actual[name])
            name = self._reference.outputs[0]
            pairs = (scores_of_items(values[name], batch) for values in (expected, actual))
            for float_scores, runtime_scores in zip(*pairs, strict=True):
                hits.add(
                    float_scores, runtime_scores, None if labels is None else labels[hits.inputs]
                )
        return TradeoffAccuracy(hits, distance.sqnr_db)
