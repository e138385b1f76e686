"""Parts: times, answers and intervals of the candidates, each computed once and kept.

Times depend on a mode through the widths and kinds of codes alone. So two modes with the same
kernel calls share them. Answers do not depend on the chip, except for what its engines do to the
numbers: signed weights, layers on the tensor engine, and layers that fall back.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from hexsim.accuracy.layer_errors import most_added
from hexsim.accuracy.reference import with_reference
from hexsim.accuracy.validation import Validation, validate
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.offline_hta import CompileOrder, prepared, with_hta
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import applied_overrides, is_dlc, load_container
from hexsim.errors import HexsimError
from hexsim.files.checkpoint import Checkpoints, hash_of
from hexsim.graph.ir import Network
from hexsim.inputs.source import InputSource, seeded_source
from hexsim.int8.machine_code.features import compiled_for
from hexsim.planning.sections import all_listed, automatic, parse
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.quantization.overrides import Overrides
from hexsim.runtimes import FIXED_POINT, Runtime
from hexsim.studies.cuts import LayerTimes, Prices, compiled_sections, search
from hexsim.studies.decision.candidates import CandidateAccuracy, Cut, DrawnTotals, Timed
from hexsim.studies.decision.modes import Mode
from hexsim.studies.decision.question import Question
from hexsim.studies.draws import drawn, draws

Place = tuple[Platform, Runtime]


@dataclass(frozen=True)
class _Priced:
    """What was found for some kernel calls, before any cut."""

    place: Place
    calls: tuple[object, ...]
    found: list[dict[str, Any]]


class DecisionParts:
    """Computes parts of one question, or finds them kept; one quantised model is in memory."""

    def __init__(self, question: Question) -> None:
        self._asked = question
        network = question.read.model.network
        held = repr((question.read.overrides, question.cpu_fallback))
        self._kept = Checkpoints("decide", (network_hash(network), self._calibrated_on, held))
        self._made: tuple[Mode, Model] | None = None
        self._priced: list[_Priced] = []

    def knows(self, mode: Mode, place: Place) -> bool:
        """True if the times of a mode are kept."""
        return self._kept.knows(self._timing(mode, place))

    def timed(self, mode: Mode, place: Place) -> tuple[Timed, ...] | str:
        """Times of a mode on a runtime by cut, or the sentence why the runtime refuses it."""
        found = self._kept.part(self._timing(mode, place), lambda: self._time(mode, place))
        return found if isinstance(found, str) else tuple(Timed(**one) for one in found)

    def accuracy(self, mode: Mode, place: Place, timed: Timed) -> CandidateAccuracy:
        """What the answers of a mode are worth."""
        cpu = repr(compiled_for())  # float sums are added up in an order that depends on it
        key = ("accuracy", repr(mode), cpu, timed.values, self._inputs)
        found = self._kept.part(key, lambda: self._judge(mode, place, timed))
        return CandidateAccuracy(**{**found, "worst": tuple(found["worst"])})

    def drawn(self, mode: Mode, place: Place, timed: Timed, count: int) -> DrawnTotals:
        """Times with constants drawn; the draws are the same for all on one platform."""
        key = ("draws", str(count), timed.cut, *self._timing(mode, place))
        found = self._kept.part(key, lambda: self._draw(mode, place, timed, count))
        return DrawnTotals(found["low_us"], found["high_us"], tuple(found["us"]))

    def deployment(self, mode: Mode, place: Place, cut: Cut, sections: str) -> Deployment:
        """The mode on a runtime, cut so; HexsimError if the runtime refuses it."""
        platform, runtime = place
        model = self._model(mode)
        if cut == "automatic":
            model = prepared(model, platform, runtime)
        elif cut == "fastest":
            order = CompileOrder(platform.chip, platform.stack, parse(sections).ranges)
            model = with_hta(model, order)
        return deploy(model, platform, runtime, cpu_fallback=self._asked.cpu_fallback)

    def _time(self, mode: Mode, place: Place) -> list[dict[str, Any]] | str:
        platform, runtime = place
        try:
            whole = self.deployment(mode, place, "", "")
            plan = whole.plan
        except HexsimError as error:
            return str(error)
        calls = (plan.subnets, plan.quantized, plan.stored_bytes, plan.floats)
        for known in self._priced:
            if known.place == place and known.calls == calls:
                return known.found
        if runtime == "aip" and platform.chip.simulates("aip"):
            found = self._cuts(mode, place, whole)
        else:
            found = [self._one(whole, "", "")]
        self._priced.append(_Priced(place, calls, found))
        return found

    def _cuts(self, mode: Mode, place: Place, whole: Deployment) -> list[dict[str, Any]]:
        """The cut of the compiler, and the fastest one if it is another."""
        default = self.deployment(mode, place, "automatic", "")
        if not compiled_sections(default):
            return [self._one(whole, "none", "")]
        rules = place[0].stack.partitioning
        ids = all_listed(default.network, automatic(default.model, rules))
        rows = [self._one(default, "automatic", ids)]
        found = search(Prices(LayerTimes(default, self._asked.perf_profile)))
        if found.best and found.best != found.default:
            fastest = self.deployment(mode, place, "fastest", found.best_ids)
            rows.append(self._one(fastest, "fastest", found.best_ids))
        elif not found.best:
            rows.append(self._one(whole, "none", ""))
        return rows

    def _one(self, deployment: Deployment, cut: Cut, sections: str) -> dict[str, Any]:
        asked = self._asked
        result = deployment.simulate(perf_profile=asked.perf_profile, idle_ms=asked.idle_ms)
        energy = deployment.platform.energy(result, asked.perf_profile)
        timed = Timed(
            cut,
            sections,
            result.total_us,
            result.forward_us,
            result.init_ps / 1e6,
            deployment.plan.stored_bytes,
            deployment.memory().peak_bytes,
            energy.millijoules,
            energy.low,
            energy.high,
            values_of(deployment),
        )
        return asdict(timed)

    def _judge(self, mode: Mode, place: Place, timed: Timed) -> dict[str, Any]:
        asked, source = self._asked, self._asked.inputs
        found = validate(
            self.deployment(mode, place, timed.cut, timed.sections),
            source.feeds(),
            labels=asked.labels,
            batch=source.batch,
            items=source.items,
        )
        return asdict(accuracy_of(found))

    def _draw(self, mode: Mode, place: Place, timed: Timed, count: int) -> dict[str, Any]:
        asked, platform = self._asked, place[0]
        deployment = self.deployment(mode, place, timed.cut, timed.sections)
        workload = deployment.workload(perf_profile=asked.perf_profile, idle_ms=asked.idle_ms)
        found = drawn(draws(platform, count), lambda changed: changed.simulate(workload))
        us = [times.total_us for times in found.times]
        return {"low_us": found.low.total_us, "high_us": found.high.total_us, "us": us}

    def _model(self, mode: Mode) -> Model:
        """The model of a mode; of the last one asked for it is still there."""
        if self._made is None or self._made[0] != mode:
            self._made = None
            self._made = (mode, self._quantized(mode))
        return self._made[1]

    def _quantized(self, mode: Mode) -> Model:
        read, network = self._asked.read, self._asked.read.model.network
        if not mode.quantizes:
            return read.model
        overrides = self._overrides(mode)
        source = seeded_source(network) if self._seeded else self._calibration
        chosen = mode.optimizations
        done = quantize_optimized(network, source.feeds, mode.options, chosen, overrides)
        return with_reference(done.model, network)  # which bias correction changed as well

    def _overrides(self, mode: Mode) -> Overrides:
        """Those of the file, and with a mode that keeps layers float all that conversion keeps."""
        asked = self._asked
        if not mode.floats:
            return applied_overrides(asked.read, asked.source, asked=None)
        if is_dlc(asked.source):
            raise HexsimError(
                "layers are kept float when a network is converted, and "
                f"'{asked.source}' is converted already; give the file it was made of"
            )
        keeping = mode.overrides
        return load_container(
            asked.source, input_dims=asked.input_dims, overrides=keeping
        ).overrides

    @property
    def _calibration(self) -> InputSource:
        return self._asked.calibration or self._asked.inputs

    @property
    def _seeded(self) -> bool:
        return self._calibration.seeded

    @cached_property
    def _calibrated_on(self) -> str:
        return "seeded" if self._seeded else inputs_hash(self._calibration)

    @cached_property
    def _inputs(self) -> str:
        return hash_of([inputs_hash(self._asked.inputs), repr(self._asked.labels)])

    def _timing(self, mode: Mode, place: Place) -> tuple[str, ...]:
        platform, runtime = place
        asked = self._asked
        sheets = (platform.chip, platform.stack)
        constants = [
            text
            for sheet in sheets
            for text in (sheet.model_dump_json(), repr(list(sheet.quantities())))
        ]
        return ("times", repr(mode), *constants, runtime, repr((asked.perf_profile, asked.idle_ms)))


def values_of(deployment: Deployment) -> str:
    """Hash of what decides the answers of a model: which numbers each layer is computed in."""

    def kind(runtime: Runtime, engine: str) -> str:
        return ("hta" if engine == "hta" else "integers") if runtime in FIXED_POINT else runtime

    computed = sorted(
        f"{layer.name} {kind(subnet.runtime, subnet.engine)}"
        for subnet in deployment.subnets
        for layer in subnet.layers
    )
    signed = deployment.runtime in FIXED_POINT and deployment.signed_weights
    return hash_of([str(signed), *computed])


def accuracy_of(found: Validation) -> CandidateAccuracy:
    """What is kept of a validation."""
    hits, sqnr_db = found.hits, found.output_sqnr_db
    ordered = (row.tensor for row in most_added(found.layers) if row.added_noise > 0)
    exact = sqnr_db == float("inf")
    return CandidateAccuracy(
        hits.inputs,
        hits.same_top1,
        hits.runtime_top1 if found.labelled else None,
        hits.float_top1 if found.labelled else None,
        None if exact else max(sqnr_db, LEAST_DB),
        tuple(ordered)[:MOST_WORST],
    )


LEAST_DB = -999.0
"""Stands for noise on nothing, which has no logarithm."""
MOST_WORST = 8
"""Layers that are remembered for modes that keep some float."""


def network_hash(network: Network) -> str:
    """Hash of a network with all its constants."""
    values = (
        part
        for name, constant in sorted(network.constants.items())
        for part in (name, repr((constant.shape, constant.dtype)), constant.value().tobytes())
    )
    stated = (repr(network.layers), repr(network.tensors), repr(network.outputs), network.name)
    return hash_of([*stated, *values])


def inputs_hash(source: InputSource) -> str:
    """Hash of all arrays of a source, and of how many items count."""
    arrays = (
        part
        for feed in source.feeds()
        for name, array in sorted(feed.items())
        for part in (name, repr((array.shape, array.dtype.str)), array.tobytes())
    )
    return hash_of([repr((source.items, source.batch)), *arrays])
