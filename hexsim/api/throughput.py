"""`hexsim.throughput` and `simulate_llm`: networks at once, and a language model's tokens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from msgspec.structs import replace

from hexsim.api.parameters import source_name, tell_overrides, warn_of
from hexsim.deployment.source_model import Preparation, runtime_on
from hexsim.errors import HexsimError, spelled, step
from hexsim.llm.network import Conditions, Widths
from hexsim.q6_scheduler import PriorityHint
from hexsim.quantization.model import Model
from hexsim.results.language_model import LanguageModel
from hexsim.results.throughput import Throughput
from hexsim.runtimes import DEFAULT_CHIP, RuntimeChoice
from hexsim.studies.conditions import Calling, Hardware, Preparing, call_of, platforms_of
from hexsim.studies.language_model import language_model, read_decoder
from hexsim.studies.throughput import ClosedLoop, Wanted, loaded
from hexsim.studies.throughput import throughput as run_throughput
from hexsim.texts.arguments import arguments_checked


class ClosedCalls(Hardware, Calling, Preparing, total=False):
    """A tensor processor runs `parallel_graphs` at a time, each with its share of VTCM.

    The other fields are those of `Hardware`, `Calling` and `Preparing`.
    """

    parallel_graphs: int


@arguments_checked
def throughput(
    *models: Model | str | Path,
    chip: str | Path = DEFAULT_CHIP,
    runtime: RuntimeChoice | Sequence[RuntimeChoice] = "auto",
    instances: int | Sequence[int] = 1,
    priority: PriorityHint | Sequence[PriorityHint] = "normal",
    inferences: int | None = None,
    duration_ms: float | None = None,
    **how: Unpack[ClosedCalls],
) -> Throughput:
    """Simulate threads that call networks again and again, as `hexsim throughput` does.

    `runtime`, `instances` (threads) and `priority` are for all models, or one for each. Every
    thread makes `inferences` calls, 20 by default, or begins none after `duration_ms`. `how` are
    the fields of `ClosedCalls`, `Hardware`, `Calling` and `Preparing`. Raises HexsimError for
    impossible numbers, and if a runtime does not take a model.
    """
    if not models:
        raise HexsimError("hexsim.throughput needs a model; give one or more first")
    if inferences is not None and duration_ms is not None:
        raise HexsimError(f"give {spelled('inferences')} or {spelled('duration_ms')}, not both")
    asked: list[RuntimeChoice] = _each("runtime", runtime, models)
    counts = _each("instances", instances, models)
    hints: list[PriorityHint] = _each("priority", priority, models)
    graphs = how.get("parallel_graphs", 1)
    (platform,) = platforms_of(chip, how, graphs)
    sources = [*map(source_name, models)]
    runtimes = [runtime_on(platform, *each) for each in zip(asked, sources, strict=True)]
    rows = zip(sources, runtimes, counts, hints, strict=True)
    wanted = [Wanted(*row) for row in rows]
    call, profile = call_of(platform, how), how.get("perf_profile")
    loop = ClosedLoop(
        inferences=20 if inferences is None else inferences,
        duration_ms=duration_ms,
        perf_profile=profile,
        buffer=call.get("buffer"),
        background=call["background"],
    )
    preparation, dims = Preparation.of(how), how.get("input_dims")
    ready = list(loaded(wanted, platform, preparation, profile, dims))
    for name, use in {network.name: network.overrides for network in ready}.items():
        tell_overrides(name, use)
    warn_of(*((network.name, network.findings) for network in ready))
    step(f"{sum(counts)} instances on {platform.chip.name}")
    answer = run_throughput(platform, [network.caller for network in ready], loop)
    choices = {network.name: network.hta_choice for network in ready if network.hta_choice}
    return replace(answer, hta_choices=choices)


def _each(name: str, value: object, models: Sequence[object]) -> list[Any]:
    """Return a value for each model."""
    values = list(value) if isinstance(value, list | tuple) else [value]
    values *= len(models) if len(values) == 1 else 1
    if len(values) != len(models):
        raise HexsimError(
            f"{spelled(name)} has {len(values)} values for {len(models)} models; give one each"
        )
    return values


class Lengths(TypedDict, total=False):
    """How a language model is used, in tokens, and `part_gb`, the most gigabytes of a part."""

    context: int
    prompt: int
    generate: int
    block: int
    part_gb: float


class Decoding(Lengths, total=False):
    """The software, the VTCM that a graph may use (None: all), and the fields of `Lengths`.

    `recorded` timelines have the hardware threads.
    """

    stack: str | Path | None
    vtcm_mb: float | None
    recorded: bool


@arguments_checked
def simulate_llm(
    config: str | Path,
    chip: str | Path = DEFAULT_CHIP,
    *,
    weights: str | None = None,
    activations: str = "16",
    draft: int | None = None,
    **how: Unpack[Decoding],
) -> LanguageModel:
    """Simulate a language model, given by its `config.json` or ONNX export, on a tensor processor.

    No weights are needed. `weights` are "w4" or "w8", by default those of an ONNX file and w4 for a
    configuration; `activations` are "8", "16" or "float". With `draft`, a number of tokens or 0,
    changes that could help are simulated too. `how` are the fields of `Decoding` and `Lengths`.
    Raises HexsimError if the configuration lacks a key, or the model cannot be deployed under these
    conditions.
    """
    architecture = read_decoder(config)
    widths = Widths.parse(weights, activations, architecture)
    (platform,) = platforms_of(chip, how)
    others = Decoding.__annotations__.keys() - Lengths.__annotations__.keys()
    lengths: Any = {name: value for name, value in how.items() if name not in others}
    conditions, recorded = Conditions(widths, **lengths), how.get("recorded", False)
    return language_model(architecture, platform, conditions, draft=draft, recorded=recorded)
