"""Compute times, answers and intervals of the candidates, each once, and store them on disk.

Times depend on a mode only through the widths and kinds of the codes (quantised values), so two
modes with the same kernel calls share them. Answers depend on the chip only where its engines
change the numbers: signed weights, layers on the tensor engine, and layers that fall back.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from hexsim.accuracy.agreement import FloatOutputs
from hexsim.accuracy.reference import with_floats_of
from hexsim.accuracy.validation import answers, float_outputs, validate
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.offline_hta import CompileOrder, prepared, with_hta
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import applied_overrides, is_dlc, load_container
from hexsim.errors import HexsimError
from hexsim.files.checkpoint import Checkpoints, hash_of, keeps
from hexsim.files.remembered import Remembered
from hexsim.graph.ir import Network
from hexsim.inputs.source import InputSource
from hexsim.int8.machine_code.features import compiled_for
from hexsim.layers import UserDefined
from hexsim.planning.sections import all_listed, automatic, parse
from hexsim.quantization.calibration import Calibrated
from hexsim.quantization.evidence import Loss
from hexsim.quantization.model import Model
from hexsim.quantization.optimizations import quantize_optimized
from hexsim.quantization.overrides import Overrides
from hexsim.results.accuracy import OutputAccuracy, worst_db
from hexsim.results.decision import Choice, Cut, TriedChange
from hexsim.results.validation import most_added
from hexsim.runtimes import Runtime
from hexsim.studies.changes import Change, changed_inputs, changed_layers, changed_model
from hexsim.studies.cuts import LayerTimes, Prices, compiled_sections, fastest_of
from hexsim.studies.cuts.survey import Simulated
from hexsim.studies.decision.modes import Mode, Question
from hexsim.studies.uncertainty import INSIDE, DrawnTimes, drawn, draws
from hexsim.texts.fields import finite
from hexsim.timing.results import Result

Place = tuple[Platform, Runtime]

Row = Mapping[str, Any]
"""Some fields of a `Choice`, by name."""

_ROUNDING = 1e-4
"""The largest difference of outputs over their largest value that counts as float rounding."""


KEPT_CONSTANTS = 1 << 26
"""Elements of constants in all quantised models that are kept: those of two ResNet-50 (our choice).

A model takes about five bytes for each: codes, and floats if its weights were equalised."""

_WORK = "decide"
"""The name of the folder for checkpoints."""


def keeps_parts(network: Network) -> bool:
    """Return whether the parts of a question about `network` are stored for the next run."""
    return keeps(_WORK) and _has_key(network)


def _has_key(network: Network) -> bool:
    """Return whether a key can cover all that shapes the parts.

    Layers of the user's own run code that may read anything, so no key of theirs can be complete.
    """
    return not any(isinstance(layer, UserDefined) for layer in network.layers)


class DecisionParts:
    """Compute the parts of one question or load them; few quantised models are in memory."""

    def __init__(self, question: Question) -> None:
        self._question = question
        network = question.read.model.network
        settings = repr((question.read.overrides, question.cpu_fallback))
        made_of = (network_hash(network), self._calibrated_on, settings)
        self._stored = Checkpoints(_WORK, made_of, stored=_has_key(network))
        self._models: dict[Mode, Model] = {}
        self._priced = Remembered[object, list[dict[str, Any]]]()
        self._searched = Remembered[object, Simulated]()
        self._floats = Remembered[Network, FloatOutputs](most=2)
        self._calibrated = Calibrated()

    @property
    def fault(self) -> str:
        """Why parts could not be stored, as a sentence; empty if all were."""
        return self._stored.fault

    def knows(self, mode: Mode, place: Place) -> bool:
        """Return True if the times of a mode are stored."""
        return self._stored.knows(self._timing(mode, place))

    def timed(self, mode: Mode, place: Place) -> tuple[Row, ...] | str:
        """Return the costs of a mode by cut, or the sentence why the runtime refuses it."""
        try:
            rows = self._stored.part(self._timing(mode, place), lambda: self._time(mode, place))
        except HexsimError as error:  # not stored: the next run may have more memory
            return str(error)
        return rows if isinstance(rows, str) else tuple(rows)

    def accuracy(self, mode: Mode, place: Place, choice: Choice) -> Row | str:
        """Return how well the answers of a mode agree with float, or why none can be computed."""
        key = ("accuracy", *self._values(mode, choice))
        try:
            fields = self._stored.part(key, lambda: self._judge(mode, place, choice))
        except HexsimError as error:  # not stored, as above
            return str(error)
        return {
            **fields,
            "outputs": msgspec.convert(fields["outputs"], tuple[OutputAccuracy, ...]),
            "findings": msgspec.convert(fields["findings"], tuple[Loss, ...]),
        }

    def worst(self, mode: Mode, place: Place, choice: Choice) -> tuple[str, ...]:
        """Return the tensors written by the layers that add most noise, most first."""
        key = ("worst", *self._values(mode, choice))
        return tuple(self._stored.part(key, lambda: self._most_added(mode, place, choice)))

    def _values(self, mode: Mode, choice: Choice) -> tuple[str, ...]:
        """Return what decides the values of a choice."""
        cpu = repr(compiled_for())  # float sums are added up in an order that depends on it
        return repr(mode), cpu, choice.values, self._inputs

    def drawn(self, mode: Mode, place: Place, choice: Choice, count: int) -> Row:
        """Return times with drawn constants; all modes on one platform share the draws.

        Nine in ten lie between both ends, which also enclose the time as stated.
        """
        key = ("draws", str(count), choice.cut, *self._timing(mode, place))
        fields = self._stored.part(key, lambda: self._draw(mode, place, choice, count))
        return {**fields, "draws_us": tuple(fields["draws_us"])}

    def changed(
        self, change: Change, mode: Mode, place: Place, choice: Choice
    ) -> TriedChange | None:
        """Return a change as tried on a copy; None if it does not apply, HexsimError if refused.

        If the choice has draws, a change that saves time has an interval.
        """
        network = self._question.read.model.network
        copy = change.make(network)
        if copy is None:
            return None
        layers, key = changed_layers(network, copy), (choice.cut, *self._timing(mode, place))
        key, before_us = (change.name, *layers, *key), choice.total_inference_us
        cut = self._stored.part(
            ("changed", *key), lambda: self._time_changed(change, mode, place, choice)
        )
        saved: tuple[float | None, float | None] = (None, None)
        after_us, count = cut["total_inference_us"], len(choice.draws_us)
        if count and after_us < before_us:
            us = self._stored.part(
                ("changed draws", str(count), *key),
                lambda: self._draw_changed(change, mode, place, cut, count),
            )
            low, high = np.percentile(np.subtract(choice.draws_us, us["us"]), INSIDE)
            saved = float(low), float(high)
        return TriedChange(
            name=change.name,
            layers=layers,
            before_us=before_us,
            after_us=after_us,
            same_answers=change.same_answers,
            remark=change.remark or changed_inputs(network, copy),
            saved_low_us=saved[0],
            saved_high_us=saved[1],
            gain=1 - after_us / before_us,
        )

    def keeps_answers(self, change: Change) -> bool:
        """Return whether the float outputs for the first input stay, but for rounding."""
        network = self._question.read.model.network
        copy = change.make(network)
        assert copy is not None, "it was tried"
        feed = next(iter(self._question.inputs.feeds()))
        platform = self._question.platforms[0]
        moved = {
            name: values.transpose(
                [network.tensors[name].order.index(axis) for axis in copy.tensors[name].order]
            )
            for name, values in feed.items()
        }
        before, after = (
            deploy(Model(each), platform, "cpu").executor().run(values)
            for each, values in ((network, feed), (copy, moved))
        )
        return all(
            bool(np.abs(after[name] - values).max(initial=0.0) <= _ROUNDING * scale)
            for name, values in before.items()
            for scale in [float(np.abs(values).max(initial=0.0))]
        )

    def _changed(self, change: Change, mode: Mode) -> Model:
        model = self._model(mode)
        network = change.make(model.network)
        assert network is not None, "quantising keeps the layers"
        return changed_model(model, network)

    def _time_changed(
        self, change: Change, mode: Mode, place: Place, choice: Choice
    ) -> dict[str, Any]:
        """Return the time of the changed model in us, with the same cut if it has that."""
        changed = self._changed(change, mode)
        rows = self._cuts(changed, place, self._deployed(changed, place, "", ""))
        rows = [row for row in rows if row["cut"] == choice.cut] or rows
        row = min(rows, key=lambda row: row["total_inference_us"])
        return {name: row[name] for name in ("cut", "hta_partitions", "total_inference_us")}

    def _draw_changed(
        self, change: Change, mode: Mode, place: Place, cut: dict[str, Any], count: int
    ) -> dict[str, Any]:
        changed = self._changed(change, mode)
        deployment = self._deployed(changed, place, cut["cut"], cut["hta_partitions"])
        return {"us": _totals(self._drawn(deployment, count))}

    def deployment(self, mode: Mode, place: Place, choice: Choice) -> Deployment:
        """Deploy the mode as the choice is cut; raise HexsimError if the runtime refuses it."""
        return self._deployed(self._model(mode), place, choice.cut, choice.hta_partitions)

    def _deployed(self, model: Model, place: Place, cut: Cut, sections: str) -> Deployment:
        platform, runtime = place
        if cut == "automatic":
            model = prepared(model, platform, runtime)
        elif cut == "fastest":
            order = CompileOrder(platform.chip, platform.stack, parse(sections).ranges)
            model = with_hta(model, order)
        return deploy(model, platform, runtime, cpu_fallback=self._question.cpu_fallback)

    def _time(self, mode: Mode, place: Place) -> list[dict[str, Any]] | str:
        try:
            uncut = self._deployed(self._model(mode), place, "", "")
            plan = uncut.plan
        except HexsimError as error:
            return str(error)
        calls = (place, plan.subnets, plan.quantized, plan.stored_bytes, plan.floats)
        return self._priced.part(calls, lambda: self._cuts(self._model(mode), place, uncut))

    def _cuts(self, model: Model, place: Place, uncut: Deployment) -> list[dict[str, Any]]:
        """Return rows for the compiler's cut and a faster one; one row for other runtimes."""
        if place[1] != "aip" or not place[0].chip.simulates("aip"):
            return [self._row(uncut, "", "")]
        default = self._deployed(model, place, "automatic", "")
        if not compiled_sections(default):
            return [self._row(uncut, "none", "")]
        rules = place[0].stack.partitioning
        ids = all_listed(default.network, automatic(default.model, rules))
        rows = [self._row(default, "automatic", ids)]
        cut_times = self._found(place, uncut, LayerTimes(default, self._question.perf_profile))
        if cut_times.best and cut_times.best != cut_times.default:
            sections = all_listed(default.network, cut_times.best)
            fastest = self._deployed(model, place, "fastest", sections)
            rows.append(self._row(fastest, "fastest", sections))
        elif not cut_times.best:
            rows.append(self._row(uncut, "none", ""))
        return rows

    def _found(self, place: Place, uncut: Deployment, times: LayerTimes) -> Simulated:
        """Search the fastest cut; models with the same calls and refusals have the same one."""
        key = (place, uncut.plan.subnets, times.refusals)
        return self._searched.part(key, lambda: fastest_of(Prices(times)))

    def _row(self, deployment: Deployment, cut: Cut, sections: str) -> dict[str, Any]:
        question = self._question
        result = self.simulated(deployment)
        energy = deployment.platform.energy(result, question.perf_profile)
        return {
            "cut": cut,
            "hta_partitions": sections,
            "total_inference_us": result.total_us,
            "forward_propagate_us": result.forward_us,
            "initialisation_us": result.init_ps / 1e6,
            "parameter_bytes": deployment.plan.stored_bytes,
            "peak_bytes": deployment.memory().peak_bytes,
            "energy_mj": energy.millijoules,
            "energy_low_mj": energy.low,
            "energy_high_mj": energy.high,
            "values": values_of(deployment),
        }

    def simulated(self, deployment: Deployment) -> Result:
        """Simulate a call as the question says it is made."""
        question = self._question
        return deployment.simulate(perf_profile=question.perf_profile, idle_ms=question.idle_ms)

    def _judge(self, mode: Mode, place: Place, choice: Choice) -> dict[str, Any]:
        deployment, source = self.deployment(mode, place, choice), self._question.inputs
        network = deployment.network
        hits, outputs = answers(
            deployment,
            source.feeds(),
            self._floats.part(network, lambda: float_outputs(network)),
            labels=self._question.labels,
            batch=source.batch,
            items=source.items,
        )
        return {
            "inputs": hits.inputs,
            "same_top1": hits.same_top1,
            "runtime_top1": hits.runtime_top1,
            "float_top1": hits.float_top1,
            "sqnr_db": finite(worst_db(outputs)),
            "outputs": msgspec.to_builtins(outputs),
            "findings": msgspec.to_builtins(deployment.findings),
        }

    def _most_added(self, mode: Mode, place: Place, choice: Choice) -> list[str]:
        source = self._question.inputs
        deployment = self.deployment(mode, place, choice)
        compared = validate(deployment, source.feeds(), batch=source.batch, items=source.items)
        return [row.tensor for row in most_added(compared.layers) if row.noise > 0][:MOST_WORST]

    def _draw(self, mode: Mode, place: Place, choice: Choice, count: int) -> dict[str, Any]:
        """Return the draws, and an interval that contains the time as stated, as in bench."""
        times = self._drawn(self.deployment(mode, place, choice), count)
        low, high = times.low.total_us, times.high.total_us
        stated = choice.total_inference_us
        ends = {"low_us": min(low, stated), "high_us": max(high, stated)}
        return {**ends, "draws_us": _totals(times)}

    def _drawn(self, deployment: Deployment, count: int) -> DrawnTimes:
        question = self._question
        workload = deployment.workload(perf_profile=question.perf_profile, idle_ms=question.idle_ms)
        return drawn(draws(deployment.platform, count), workload)

    def _model(self, mode: Mode) -> Model:
        """Return the model of a mode; those of the last modes stay in memory, at least one."""
        if mode not in self._models:
            constants = self._question.read.model.network.constants.values()
            kept = KEPT_CONSTANTS // max(1, sum(constant.elements for constant in constants))
            while self._models and len(self._models) >= kept:
                del self._models[next(iter(self._models))]
            self._models[mode] = self._quantized(mode)
        return self._models[mode]

    def _quantized(self, mode: Mode) -> Model:
        source_file, network = self._question.read, self._question.read.model.network
        if not mode.quantizes:
            return source_file.model
        overrides = self._overrides(mode)
        source = self._question.calibration
        assert source is not None, "the mode quantises"
        quantized = quantize_optimized(
            network,
            source.feeds,
            mode.options,
            mode.optimizations,
            overrides,
            calibrated=self._calibrated,
        )
        equalized = quantized.equalization
        reference = network if equalized is None else equalized.network
        return with_floats_of(quantized.model, reference)  # bias correction changes the reference

    def _overrides(self, mode: Mode) -> Overrides:
        """Return the file's overrides; for a mode with float layers, those of its conversion."""
        question = self._question
        if not mode.floats:
            return applied_overrides(question.read, question.source, override_params=None)
        if is_dlc(question.source):
            raise HexsimError(
                "layers are kept float when a network is converted, and "
                f"'{question.source}' is already converted; give the file that it was made from"
            )
        return load_container(
            question.source, input_dims=question.input_dims, overrides=mode.overrides
        ).overrides

    @cached_property
    def _calibrated_on(self) -> str:
        source = self._question.calibration
        return "seeded" if source is None or source.seeded else inputs_hash(source)

    @cached_property
    def _inputs(self) -> str:
        return hash_of([inputs_hash(self._question.inputs), repr(self._question.labels)])

    def _timing(self, mode: Mode, place: Place) -> tuple[str, ...]:
        platform, runtime = place
        question = self._question
        constants = [
            text
            for datasheet in (platform.chip, platform.stack)
            for text in (repr(datasheet), repr(list(datasheet.quantities())))
        ]
        return (
            "times",
            repr(mode),
            *constants,
            runtime,
            repr((question.perf_profile, question.idle_ms)),
        )


def _totals(times: DrawnTimes) -> list[float]:
    return [draw.total_us for draw in times.times]


def values_of(deployment: Deployment) -> str:
    """Return a hash of how each layer computes, which decides the answers of a model."""
    arithmetic = deployment.arithmetic
    marked = (sorted(arithmetic.exact), sorted(arithmetic.signed))
    return hash_of([repr(marked), repr(arithmetic.subnets)])


MOST_WORST = 8
"""Layers stored for the modes that keep some layers float."""


def network_hash(network: Network) -> str:
    """Return a hash of a network with all its constants."""
    values = (
        part
        for name, constant in sorted(network.constants.items())
        for part in (name, repr((constant.shape, constant.dtype)), constant.value().tobytes())
    )
    stated = (repr(network.layers), repr(network.tensors), repr(network.outputs), network.name)
    return hash_of([*stated, *values])


def inputs_hash(source: InputSource) -> str:
    """Return a hash of all arrays of a source and of the number of items."""
    arrays = (
        part
        for feed in source.feeds()
        for name, array in sorted(feed.items())
        for part in (name, repr((array.shape, array.dtype.str)), array.tobytes())
    )
    return hash_of([repr((source.items, source.batch)), *arrays])
