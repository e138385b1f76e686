"""`hexsim.benchmark` and `hexsim.profile`: networks on the runtimes of chips."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, Unpack, cast

from hexsim.accuracy.classes import Classes, read_labels
from hexsim.api import Circumstances, warn_of
from hexsim.api.hardware import hardware
from hexsim.deployment.given import GivenModel
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import ModelInMemory
from hexsim.errors import HexsimError, keywords_checked, require_number, unknown, warn_caller
from hexsim.graph.ir import Network
from hexsim.inputs.input_sets import InputSets, read_inputs
from hexsim.inputs.source import InputRoles, InputSource
from hexsim.quantization.model import Model
from hexsim.results.benchmark import Benchmark, Inference, Refusal
from hexsim.runtimes import FIXED_POINT, RUNTIMES, Runtime
from hexsim.studies import conditions
from hexsim.studies.benchmark import BenchmarkConditions, answered, run_benchmark, run_case
from hexsim.studies.conditions import CallSettings
from hexsim.studies.judging import NamedInputs
from hexsim.studies.uncertainty import Scope, orders

DRAWS = 200
"""Default number of draws: the ends of an interval then vary by one or two percent of the time."""
INTERVALS: Mapping[str | None, Scope | None] = {
    None: "a few draws",
    "one": "everything",
    "joint": None,
}
"""How times get their intervals, by the parameter `uncertainty`."""


class Deploying(Circumstances, total=False):
    """How a model is deployed, and the settings of `Circumstances`.

    `stack` is the software, by name or TOML file; None is the chip's own. `quantize` lets float
    models be quantised for runtimes that refuse them. `override_params` applies the overrides that
    the file holds; None those of an ONNX file's own quantising nodes, False none. `hta` (default:
    true) compiles sections for the tensor engine into models that are quantised here.
    `cpu_fallback` (default: true) lets the CPU run the layers that the runtime does not take.
    `input_dims` has shapes of inputs by their names.
    """

    stack: str | Path | None
    quantize: bool
    override_params: bool | None
    hta: bool
    cpu_fallback: bool
    input_dims: Mapping[str, Sequence[int]]


class Judging(Deploying, total=False):
    """What answers are compared on, how times get intervals, and the settings of `Deploying`.

    `inputs` judge the answers: arrays, mappings by input name, the path of an input list, or of a
    folder of pictures; by default seeded ones. `calibration` (of the same kinds) calibrates where a
    float model is quantised; without it every second input does. `labels` has the right class of
    each input, or several. `timing_only` computes no answers. `uncertainty` "one" changes constants
    one at a time, "joint" draws all of them `draws` times; by default they are drawn a dozen times.
    """

    inputs: InputSets
    calibration: InputSets
    labels: Sequence[int | Sequence[int]]
    timing_only: bool
    uncertainty: Literal["one", "joint"] | None
    draws: int


@keywords_checked
def benchmark(
    models: Model | str | Path | Sequence[Model | str | Path],
    chips: str | Path | Sequence[str | Path] = "sd835",
    runtime: Runtime | Sequence[Runtime] | None = None,
    **how: Unpack[Judging],
) -> Benchmark:
    """Simulate one or more networks on the runtimes of one or more chips, as `hexsim bench` does.

    `models` are models, files or names of built-in networks; `runtime` None is all of each chip.
    Float models are quantised for runtimes that refuse them unless `quantize` is False. What a
    runtime does not take is in `refused`, with the reason. `how` are the fields of `Judging`,
    `Deploying` and `Circumstances`. Raises HexsimError if nothing can run.
    """
    named = [chips] if isinstance(chips, str | Path) else list(chips)
    sources = [models] if isinstance(models, Model | str | Path) else list(models)
    results: list[Inference | Refusal] = []
    how = {"quantize": True, **how}
    for platform in platforms_of(named, how):
        runtimes = runtimes_of(runtime) or platform.runtimes
        under = conditions_of(platform, how, runtimes)
        results += run_benchmark([*map(source_name, sources)], platform, runtimes, under)
    cases, refused = answered(results)
    if not cases:
        raise HexsimError("hexsim.benchmark got no model or no chip; give one or more")
    warn_of(loss for case in cases for loss in case.findings)
    return Benchmark(results=cases, refused=refused, orders=orders(cases))


@keywords_checked
def profile(
    model: Model | str | Path,
    chip: str | Path = "sd835",
    runtime: Runtime = "dsp",
    *,
    uncertainty: bool = False,
    recorded: bool = False,
    **how: Unpack[Deploying],
) -> Inference:
    """Simulate one inference layer by layer, as `hexsim profile` does; no values are computed.

    `uncertainty` changes assumed and calibrated constants one at a time, and lists their effects.
    A `recorded` timeline has the hardware threads and vector contexts too. `how` are the fields of
    `Deploying` and `Circumstances`. Raises HexsimError if the runtime does not take the model.
    """
    (platform,) = platforms_of([chip], how)
    (known,) = runtimes_of(runtime) or ()
    under = conditions_of(platform, cast(Judging, how), (known,))
    sweep: Scope | None = "everything" if uncertainty else None
    under = replace(under, sweep=sweep, recorded=recorded, roofs=True, accuracy=False)
    case = run_case(source_name(model), platform, known, under)
    warn_of(case.findings)
    return case


def platforms_of(chips: Sequence[str | Path], how: Judging | Deploying) -> list[Platform]:
    """Return the chips with their software, as the settings change them."""
    platforms = hardware(chips, how)
    if not how.get("power_collapse", True):
        platforms = [platform.without_power_collapse() for platform in platforms]
    return platforms


def conditions_of(
    platform: Platform, how: Judging, runtimes: Sequence[Runtime]
) -> BenchmarkConditions:
    """Return the conditions of a benchmark by its settings; HexsimError for a contradiction."""
    require_number("idle_ms", how.get("idle_ms", 0.0), 0.0, math.inf)
    is_joint = how.get("uncertainty") == "joint"
    if "draws" in how and not is_joint:
        raise HexsimError("draws is for uncertainty='joint'; give that too, or leave it out")
    if how.get("uncertainty") not in INTERVALS:
        raise unknown("uncertainty", str(how.get("uncertainty")), ("one", "joint"))
    return conditions.conditions_of(
        platform,
        cast(CallSettings, how),
        sweep=INTERVALS[how.get("uncertainty")],
        draws=how.get("draws", DRAWS) if is_joint else 0,
        accuracy=not how.get("timing_only", False),
        inputs=_judging(how, runtimes),
    )


def _judging(
    how: Judging, runtimes: Sequence[Runtime]
) -> Callable[[GivenModel], InputRoles] | None:
    if "inputs" not in how:
        unused = next((name for name in ("labels", "calibration") if name in how), None)
        if unused is not None:
            raise HexsimError(f"{unused} goes with inputs, which judge the answers; give both")
        return None
    if how.get("timing_only"):
        raise HexsimError("inputs judge answers, which timing_only leaves out; give one of them")
    return partial(named_roles, how=how, runtimes=runtimes)


def named_roles(loaded: GivenModel, how: Judging, runtimes: Sequence[Runtime]) -> InputRoles:
    """Return the inputs that judge a model, and those that calibrate it where it is quantised."""
    network = loaded.model.network
    judging, calibration = read_inputs(how["inputs"], network), how.get("calibration")
    named = NamedInputs(
        judging,
        labels_of(how.get("labels"), judging, network),
        calibration=None if calibration is None else lambda: read_inputs(calibration, network),
    )
    in_codes = not FIXED_POINT.isdisjoint(runtimes)
    return named.roles(loaded.model, loaded.overrides, in_codes=in_codes, remark_on=warn_caller)


def labels_of(
    labels: Sequence[int | Sequence[int]] | str | Path | None, source: InputSource, network: Network
) -> tuple[Classes, ...] | None:
    """Return the right classes of each input, from a file or as they are given."""
    if labels is None:
        return None
    if isinstance(labels, str | Path):
        return read_labels(Path(labels), source.items, network, source.names, source.batch)
    classes = tuple(
        (int(label),) if isinstance(label, int) else tuple(map(int, label)) for label in labels
    )
    if len(classes) != source.items:
        raise HexsimError(f"{len(classes)} labels for {source.items} inputs; give one for each")
    return classes


def runtimes_of(runtime: Runtime | Sequence[Runtime] | None) -> tuple[Runtime, ...] | None:
    """Return the runtimes that are asked for; HexsimError for an unknown one."""
    if runtime is None:
        return None
    runtimes = (runtime,) if isinstance(runtime, str) else tuple(dict.fromkeys(runtime))
    for name in runtimes:
        if name not in RUNTIMES:
            raise unknown("runtime", name, RUNTIMES)
    return runtimes


def source_name(model: Model | str | Path) -> str:
    """Return what the studies load a model from."""
    return ModelInMemory(model) if isinstance(model, Model) else str(model)
