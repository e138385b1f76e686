"""`hexsim.throughput` and `simulate_llm`: networks at once, and a language model's tokens."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, cast

from hexsim.api import warn_of
from hexsim.api.benchmark import source_name
from hexsim.api.hardware import Hardware, hardware, known_runtime
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, keywords_checked, unknown
from hexsim.llm.network import Conditions, Widths
from hexsim.q6_scheduler import URGENCY, PriorityHint
from hexsim.quantization.model import Model
from hexsim.results.language_model import LanguageModel
from hexsim.results.throughput import Throughput
from hexsim.runtimes import Runtime
from hexsim.studies.conditions import CallSettings, buffer_of, clients_of, preparation_of
from hexsim.studies.language_model import language_model, read_decoder
from hexsim.studies.throughput import ClosedLoop, Wanted, loaded
from hexsim.studies.throughput import throughput as run_throughput


class Calling(Hardware, total=False):
    """How networks are prepared and called, and the settings of `Hardware`.

    A tensor processor runs `parallel_graphs` at a time, each with its share of VTCM. `perf_profile`
    and `buffer` None are the stack's own. `background` names loads (or TOML files) whose clients
    use the DSP meanwhile. `quantize`, `override_params`, `hta`, `cpu_fallback` and `input_dims` are
    those of `hexsim.benchmark`.
    """

    parallel_graphs: int
    perf_profile: str | None
    buffer: Literal["float", "tf8"] | None
    background: str | Path | Sequence[str | Path]
    quantize: bool
    override_params: bool | None
    hta: bool
    cpu_fallback: bool
    input_dims: Mapping[str, Sequence[int]]


@keywords_checked
def throughput(
    *models: Model | str | Path,
    chip: str | Path = "sd835",
    runtime: Runtime | Sequence[Runtime] = "dsp",
    instances: int | Sequence[int] = 1,
    priority: PriorityHint | Sequence[PriorityHint] = "normal",
    inferences: int | None = None,
    duration_ms: float | None = None,
    **how: Unpack[Calling],
) -> Throughput:
    """Simulate threads that call networks again and again, as `hexsim throughput` does.

    `runtime`, `instances` (threads) and `priority` are for all models, or one for each. Every
    thread makes `inferences` calls, 20 by default, or begins none after `duration_ms`. `how` are
    the fields of `Calling`. Raises HexsimError for impossible numbers, and if a runtime does not
    take a model.
    """
    if not models:
        raise HexsimError("hexsim.throughput needs a model; give one or more first")
    if inferences is not None and duration_ms is not None:
        raise HexsimError("give inferences or duration_ms, not both")
    (platform,) = hardware([chip], how, _whole("parallel_graphs", how.get("parallel_graphs", 1)))
    runtimes: Iterator[Runtime] = map(known_runtime, _each("runtime", runtime, models))
    counts = [_whole("instances", count) for count in _each("instances", instances, models)]
    hints: list[PriorityHint] = _each("priority", priority, models)
    for hint in hints:
        if hint not in URGENCY:
            raise unknown("priority", hint, list(URGENCY))
    rows = zip(map(source_name, models), runtimes, counts, hints, strict=True)
    settings, profile = cast(CallSettings, how), how.get("perf_profile")
    loop = ClosedLoop(
        inferences=20 if inferences is None else _whole("inferences", inferences),
        duration_ms=duration_ms,
        perf_profile=profile,
        buffer=buffer_of(settings, platform),
        background=clients_of(settings),
    )
    wanted = [Wanted(*row) for row in rows]
    preparation, dims = preparation_of(settings), how.get("input_dims")
    ready = list(loaded(wanted, platform, preparation, profile, dims))
    warn_of(loss for network in ready for loss in network.findings)
    return run_throughput(platform, [network.caller for network in ready], loop)


def _each(name: str, value: object, models: Sequence[object]) -> list[Any]:
    """Return a value for each model."""
    values = list(value) if isinstance(value, list | tuple) else [value] * len(models)
    if len(values) != len(models):
        raise HexsimError(
            f"{name} has {len(values)} values for {len(models)} models; give one each"
        )
    return values


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise HexsimError(f"{name} is a whole number, not {value!r:.80}")
    return value


class Lengths(TypedDict, total=False):
    """How a language model is used, in tokens, and `part_gb`, the most gigabytes of a part."""

    context: int
    prompt: int
    generate: int
    block: int
    part_gb: float


@keywords_checked
def simulate_llm(
    config: str | Path,
    chip: str | Path = "sd8gen4",
    *,
    stack: str | Path | None = None,
    weights: str | None = None,
    activations: str = "16",
    vtcm_mb: float | None = None,
    draft: int | None = None,
    **lengths: Unpack[Lengths],
) -> LanguageModel:
    """Simulate a language model, given by its `config.json` or ONNX export, on a tensor processor.

    No weights are needed. `weights` are "w4" or "w8", by default those of an ONNX file and w4 for a
    configuration; `activations` are "8", "16" or "float". `vtcm_mb` is the VTCM that a graph may
    use, by default all of it. With `draft`, a number of tokens or 0, changes that could help are
    simulated too. `lengths` are the fields of `Lengths`: context, prompt, generate, block, part_gb.
    Raises HexsimError if the configuration lacks a key, or the model cannot be deployed under these
    conditions.
    """
    architecture = read_decoder(config)
    widths = Widths.parse(weights, activations, architecture)
    platform = Platform.load(chip, stack).with_vtcm(vtcm_mb)
    return language_model(architecture, platform, Conditions(widths, **lengths), draft=draft)
