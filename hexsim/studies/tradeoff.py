"""Compare cost and accuracy of a float and a quantised file of one network on each runtime.

Both files are written and read back, so that sizes are those of .dlc files, and a runtime that
dequantises works with the weights of the quantised file.

A runtime that quantises a float file at load uses ranges of the inputs that calibrate, or else of
those that judge; the real one computes ranges for each input again. Accuracy is measured on class
scores, before a final softmax.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hexsim import dlc
from hexsim.accuracy.agreement import Agreement
from hexsim.accuracy.agreements import Agreements
from hexsim.deployment import AtLoad, deploy
from hexsim.deployment.platform import Platform
from hexsim.display import Cell, DisplayTable, Shown
from hexsim.errors import HexsimError
from hexsim.files import scratch
from hexsim.graph.ir import Network
from hexsim.inputs.split import InputRoles
from hexsim.memory import Footprint
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.runtimes import FIXED_POINT, Runtime
from hexsim.timing.results import Result
from hexsim.timing.simtime import PS_PER_MS

Kind = Literal["float", "quantised"]


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
    accuracy: Agreement | None = None
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
    values = (memory.peak_bytes, accuracy.top1, accuracy.sqnr_db)
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
        source = inputs.judging
        self._agreements = Agreements(reference, source.feeds, source.items, inputs.labels)
        self._platform = platform
        self._conditions = conditions
        calibration = (inputs.calibrating or source).feeds
        self._at_load = AtLoad(reference, platform, calibration, conditions.overrides)

    def choice(self, kind: Kind, size: int, model: Model, runtime: Runtime) -> TradeoffChoice:
        """Return time and accuracy of one file on one runtime, or its refusal."""
        coded = model.quantized or (runtime in FIXED_POINT and self._at_load.coded)
        rule = self._platform.load_rule(runtime, quantized=coded)
        if rule.effect == "refuse":
            return TradeoffChoice(kind, size, runtime, "refused", refusal=rule.sentence)
        at_load = None if model.quantized or runtime not in FIXED_POINT else self._at_load
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
        accuracy = self._agreements.of(deployment)
        return TradeoffChoice(
            kind, size, runtime, rule.sentence, timing, deployment.memory(), accuracy
        )
