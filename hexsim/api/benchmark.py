"""`hexsim.benchmark`: networks on the runtimes of chips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Unpack

from hexsim.api.parameters import runtimes_of, source_name, warn_of
from hexsim.deployment.source_model import SourceModel
from hexsim.errors import HexsimError, require_number, spelled
from hexsim.inputs.source import InputRoles
from hexsim.quantization.model import Model
from hexsim.results.benchmark import Benchmark, Inference, Refusal
from hexsim.runtimes import DEFAULT_CHIP, Runtime
from hexsim.studies.benchmark import BenchmarkConditions, answered, by_network
from hexsim.studies.conditions import Settings, platforms_of
from hexsim.studies.judging import Judging, require_inputs, roles_of
from hexsim.studies.pool import Pool
from hexsim.studies.processes import Sharing, workers_of
from hexsim.studies.uncertainty import MOST_DRAWS, Scope, orders
from hexsim.texts.arguments import arguments_checked

DRAWS = 200
"""Default number of draws: the ends of an interval then vary by one or two percent of the time."""
INTERVALS: Mapping[str | None, Scope | None] = {
    None: "a few draws",
    "one": "everything",
    "joint": None,
}
"""How times get their intervals, by the parameter `uncertainty`."""


class Studies(Judging, Sharing, total=False):
    """What answers are compared on, and how times get intervals; the fields of `Judging` too.

    `timing_only` computes no answers. `uncertainty` "one" changes constants one at a time, "joint"
    draws all of them `draws` times; by default they are drawn a dozen times. `workers` processes,
    or those of a dask `scheduler`, share the joint draws.
    """

    timing_only: bool
    uncertainty: Literal["one", "joint"] | None
    draws: int | None


class Benchmarking(Settings, Studies, total=False):
    """The fields of `Studies` and of `Settings`.

    A `recorded` timeline has the hardware threads and vector contexts too.
    """

    recorded: bool


Results = Sequence[Inference | Refusal]


@arguments_checked
def benchmark(
    models: Model | str | Path | Sequence[Model | str | Path],
    chips: str | Path | Sequence[str | Path] = DEFAULT_CHIP,
    runtime: Runtime | Sequence[Runtime] | None = None,
    *,
    on_results: Callable[[Results], None] = lambda results: None,
    **how: Unpack[Benchmarking],
) -> Benchmark:
    """Simulate one or more networks on the runtimes of one or more chips, as `hexsim bench` does.

    `models` are models, files or names of built-in networks; `runtime` None is all of each chip.
    Float models are quantised for runtimes that refuse them unless `quantize` is False. What a
    runtime does not take is in `refused`, with the reason. `on_results` is called with the results
    of a network on a chip as soon as they are known. `how` are the fields of `Benchmarking`,
    `Studies`, `Judging` and `Settings`. Raises HexsimError if nothing can run.
    """
    named = [models] if isinstance(models, Model | str | Path) else list(models)
    if not named:
        raise HexsimError("hexsim.benchmark got no model; give one or more")
    sources, runtimes = [*map(source_name, named)], runtimes_of(runtime)
    has_inputs = require_inputs(how, "calibration")
    platforms, others = platforms_of(chips, how), _questions(how)
    results: list[Inference | Refusal] = []
    with _sharing(how, others["draws"]) as pool:
        on_chips: list[Iterator[list[Inference | Refusal]]] = []
        for platform in platforms:
            chosen = runtimes or platform.runtimes
            inputs = partial(_roles, how=how, runtimes=chosen) if has_inputs else None
            under = BenchmarkConditions.of(platform, how, **others, pool=pool, inputs=inputs)
            on_chips.append(by_network(sources, platform, chosen, under))
        for answers in chain.from_iterable(zip(*on_chips, strict=True)):
            results += answers
            on_results(answers)
    cases, refused = answered(results)
    warn_of(*((case.network, case.findings) for case in cases))
    return Benchmark(results=cases, refused=refused, orders=orders(cases))


def _questions(how: Benchmarking) -> dict[str, Any]:
    """Return the fields of the conditions that say what is computed; HexsimError if they differ."""
    interval, draws, timing_only = how.get("uncertainty"), how.get("draws"), how.get("timing_only")
    if draws is not None and interval != "joint":
        raise HexsimError(
            f"{spelled('draws')} is for {spelled('uncertainty', 'joint')}; give that too, or leave "
            "it out"
        )
    if timing_only and how.get("inputs") is not None:
        raise HexsimError(
            f"inputs judge the answers, which {spelled('timing_only')} leaves out; give one or the "
            "other"
        )
    if draws is not None:
        require_number(spelled("draws"), draws, 1, MOST_DRAWS)
    return {
        "sweep": INTERVALS[interval],
        "draws": (draws or DRAWS) if interval == "joint" else 0,
        "accuracy": not timing_only,
        "recorded": how.get("recorded", False),
    }


def _sharing(how: Benchmarking, draws: int) -> AbstractContextManager[Pool | None]:
    """Return the workers for the draws; None if none are requested."""
    count, scheduler = how.get("workers"), how.get("scheduler")
    if count is None and scheduler is None:
        return nullcontext()
    if not draws:
        raise HexsimError(
            f"{spelled('workers')} and {spelled('scheduler')} distribute draws; give "
            f"{spelled('uncertainty', 'joint')} too, or leave them out"
        )
    return workers_of(count, scheduler)


def _roles(loaded: SourceModel, how: Judging, runtimes: Sequence[Runtime]) -> InputRoles:
    return roles_of(how, loaded.model, loaded.overrides, runtimes)
