"""The speed and the memory of a language model on a platform, and what would help.

A block of the prompt and a token are simulated once each, part by part, because the shapes of
their graphs do not change: the prompt is processed in whole blocks, and a token attends to the
whole context that the graph was compiled for, however full it is. Left out: the tokeniser, the
look-up of embeddings and the choice of the next token on the CPU, loading, and temperature.

A model is split into parts, each a graph of its own in a context binary. A part holds whole layers;
the last one also holds the head. Parts are made as equal as possible, and as few as their limit
allows. The limit is one of deployments: 2 GB for files whose sizes are signed 32-bit numbers, and
less than 4 GB, which is what a process of the processor addresses.

Each change that could help is simulated anew. A draft of tokens for speculative decoding is assumed
to come from a look-up in the text, which costs nothing; the model then checks all of them in one
pass, and the first wrong one ends what is used. Answers change with narrower heads and fewer heads
of keys; that is not judged here.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from msgspec import structs

from hexsim.datasheets.quantity import Estimate
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, require_number, spelled
from hexsim.llm.architecture import Architecture, read_architecture
from hexsim.llm.network import HEAD, Conditions, Widths, decoder
from hexsim.records import dataclass, replace
from hexsim.results.costs import Millijoule, TimeError
from hexsim.results.language_model import DeployedMemory, Gain, LanguageModel, ModelPart, Pass
from hexsim.texts.figures import figure
from hexsim.timing.picoseconds import PS_PER_SECOND
from hexsim.timing.results import LayerTiming, Result

GIGABYTE = 1e9
_SHORTEST_CONTEXT = 512
"""Contexts for which speeds are listed are halved down to this one."""
_FEW = 2
"""Layers of a part that are simulated. All layers of a model are equal, so a longer part takes as
much more for each further layer as the last of these does."""
SHARES = ("weights", "head", "attention", "softmax", "cache", "other", "start", "hand-over")
"""What the time of a block or token is spent on, in the order of reports."""
ACCEPTED = 0.7
"""Share of drafted tokens that are right, each if those before it are (assumed)."""
MOST_DRAFTED = 64


@dataclass(frozen=True)
class LayerSpan:
    """Layers `first` to `last` (exclusive) of a model, and the head if `head`."""

    first: int
    last: int
    head: bool

    @property
    def layers(self) -> range:
        """The numbers of its layers."""
        return range(self.first, self.last)


def part_bytes(architecture: Architecture, part: LayerSpan, widths: Widths, context: int) -> int:
    """Return the bytes of a part's weights and cache."""
    weights = architecture.layer_weights * widths.weights // 8
    cache = architecture.cache_bytes(context, widths.cache_bits) // architecture.layers
    head = architecture.head_weights * widths.head_bits // 8 if part.head else 0
    return len(part.layers) * (weights + cache) + head


def split(
    architecture: Architecture, widths: Widths, context: int, most_bytes: float
) -> tuple[LayerSpan, ...]:
    """Split a model into the fewest parts of at most `most_bytes` of weights and cache.

    Raises HexsimError if one layer, or the head with no layer, is larger than a part.
    """
    count = architecture.layers
    for parts in range(1, count + 2):
        cuts = [round(at * count / parts) for at in range(parts + 1)]
        if parts == count + 1:
            cuts = [*range(count + 1), count]
        made = tuple(
            LayerSpan(first, last, head=at == parts - 1)
            for at, (first, last) in enumerate(pairwise(cuts))
        )
        sizes = [part_bytes(architecture, part, widths, context) for part in made]
        if max(sizes) <= most_bytes:
            return made
    raise HexsimError(
        f"model '{architecture.name}' cannot be split into parts of {most_bytes / GIGABYTE:g} GB: "
        f"the largest layer or the head takes {figure(max(sizes) / GIGABYTE)} GB; give a larger "
        f"{spelled('part_gb')} or narrower weights"
    )


def read_decoder(path: str | Path) -> Architecture:
    """Read a `config.json`, the one in a folder, or an ONNX export (`.onnx`).

    Raises HexsimError naming the file and the key or node that is missing or does not fit.
    """
    if Path(path).suffix.lower() != ".onnx":
        return read_architecture(path)
    from hexsim.llm.onnx_decoder import read_onnx_decoder  # onnx takes long to import

    return read_onnx_decoder(Path(path))


def language_model(
    architecture: Architecture,
    platform: Platform,
    conditions: Conditions,
    *,
    draft: int | None = None,
    recorded: bool = False,
) -> LanguageModel:
    """Simulate a model; with `draft` also changes that could help, `recorded` with timelines.

    Errors are those of `speed_of` and `gains`.
    """
    model = speed_of(architecture, platform, conditions)
    if draft is not None:
        model = structs.replace(model, what_if=gains(model, platform, draft))
    return structs.replace(model, timelines=timelines(model, platform)) if recorded else model


def speed_of(
    architecture: Architecture,
    platform: Platform,
    conditions: Conditions,
    *,
    shorter_contexts: bool = True,
) -> LanguageModel:
    """Simulate a model on a platform, also for tokens in `shorter_contexts`.

    Raises HexsimError if the chip has no tensor processor or the model cannot be split.
    """
    widths = conditions.widths
    platform.chip.require(widths.runtime)
    platform.stack.require(widths.runtime)
    parts = split(architecture, widths, conditions.context, conditions.part_gb * GIGABYTE)
    simulated = _Simulated(architecture, platform, conditions, parts)
    block, activations = simulated.run(conditions.block, conditions.context)
    token, of_token = simulated.run(1, conditions.context)
    by_context = {conditions.context: 1e3 / token.ms}
    context = conditions.context // 2
    while shorter_contexts and context >= max(_SHORTEST_CONTEXT, 2):
        by_context[context] = 1e3 / simulated.run(1, context, memory=False)[0].ms
        context //= 2
    first_ms = {
        prompt: -(-prompt // conditions.block) * block.ms for prompt in _prompts(conditions)
    }
    more = max(0, conditions.generate - 1)  # the last block of the prompt gives the first token
    sizes = (part_bytes(architecture, part, widths, conditions.context) for part in parts)
    return LanguageModel(
        chip=platform.chip.name,
        stack=platform.stack.name,
        software=platform.software,
        vtcm_mb=platform.vtcm_mb,
        architecture=architecture,
        conditions=conditions,
        parameters=architecture.parameters,
        tokens_per_second=by_context[conditions.context],
        expected_error=TimeError.of(platform.chip.name, platform.stack.name, "llm", "tokens"),
        tokens_per_second_by_context=dict(sorted(by_context.items())),
        first_token_ms=first_ms,
        total_ms=first_ms[conditions.prompt] + more * token.ms,
        token=token,
        block=block,
        memory_bytes=_memory(architecture, conditions, activations + of_token),
        parts=tuple(
            ModelPart(first_layer=part.first, layers=len(part.layers), head=part.head, bytes=size)
            for part, size in zip(parts, sizes, strict=True)
        ),
    )


def _prompts(conditions: Conditions) -> list[int]:
    """Return the lengths of prompts to report: one block, doubled, and the one asked for."""
    lengths, length = {conditions.prompt}, conditions.block
    while length < conditions.context:
        lengths.add(length)
        length *= 2
    return sorted({*lengths, conditions.context})


def _memory(architecture: Architecture, conditions: Conditions, activations: int) -> DeployedMemory:
    widths = conditions.widths
    matrices = architecture.layers * architecture.layer_weights * widths.weights
    weights = (matrices + architecture.head_weights * widths.head_bits) // 8
    embedding = architecture.head_weights * widths.head_bits // 8
    cache = architecture.cache_bytes(conditions.context, widths.cache_bits)
    peak = weights + embedding + cache + activations
    return DeployedMemory(
        weights=weights,
        embedding=embedding,
        cache=cache,
        activations=activations,
        peak=peak,
        peak_without_sharing=peak + weights,
    )


def pass_of(
    architecture: Architecture, platform: Platform, conditions: Conditions, tokens: int
) -> Pass:
    """Simulate one pass of `tokens` at once; errors as in `speed_of`."""
    widths = conditions.widths
    parts = split(architecture, widths, conditions.context, conditions.part_gb * GIGABYTE)
    simulated = _Simulated(architecture, platform, conditions, parts)
    return simulated.run(tokens, conditions.context, memory=False)[0]


@dataclass(frozen=True)
class _Measured:
    """What a part of a model takes: seconds by share, bytes by DDR and in memory, energy in mJ."""

    shares_s: Mapping[str, float]
    ddr_bytes: int
    kept_bytes: int
    energy: Estimate


@dataclass(frozen=True)
class _Simulated:
    """A model in parts on a platform; parts with equal graphs are simulated once."""

    architecture: Architecture
    platform: Platform
    conditions: Conditions
    parts: tuple[LayerSpan, ...]

    def run(self, tokens: int, context: int, *, memory: bool = True) -> tuple[Pass, int]:
        """Return a pass of `tokens` and, if `memory`, the bytes of its activations."""
        seconds = dict.fromkeys(SHARES, 0.0)
        simulated: dict[tuple[int, bool], _Measured] = {}
        ddr_bytes = kept_bytes = 0
        energy = Estimate()
        for part in self.parts:
            layers = len(part.layers)
            for count in {min(layers, _FEW - 1), min(layers, _FEW)}:
                if (count, part.head) not in simulated:
                    few = LayerSpan(0, count, head=part.head)
                    simulated[count, part.head] = self.part(few, tokens, context, memory=memory)
            measured = simulated[min(layers, _FEW), part.head]
            fewer = simulated[min(layers, _FEW - 1), part.head]
            repeats = max(0, layers - _FEW)
            for name, share in measured.shares_s.items():
                seconds[name] += share + repeats * (share - fewer.shares_s[name])
            ddr_bytes += measured.ddr_bytes + repeats * (measured.ddr_bytes - fewer.ddr_bytes)
            kept_bytes += measured.kept_bytes + repeats * (measured.kept_bytes - fewer.kept_bytes)
            energy += measured.energy * (1 + repeats) + fewer.energy * -repeats
        seconds["hand-over"] = len(self.parts) * self.platform.stack.htp.part_s
        made = Pass(
            ms=1e3 * sum(seconds.values()),
            parts_ms={name: 1e3 * spent for name, spent in seconds.items()},
            ddr_bytes=ddr_bytes,
            energy=Millijoule(mj=energy.value, mj_low=energy.low, mj_high=energy.high),
        )
        return made, kept_bytes

    def part(self, part: LayerSpan, tokens: int, context: int, *, memory: bool) -> _Measured:
        deployment = deployment_of(
            self.architecture, self.platform, self.conditions, part, tokens, context
        )
        result = deployment.simulate()
        shares = dict.fromkeys(SHARES, 0.0)
        for layer in result.layers:
            shares[share_of(layer)] += layer.duration_ps / PS_PER_SECOND
        shares["start"] = sum(part.duration_ps for part in result.overheads) / PS_PER_SECOND
        network, bits = deployment.network, self.conditions.widths.activation_bits
        ends = [name for name in (*network.inputs, *network.outputs) if name not in network.states]
        buffers = sum(network.tensors[name].elements for name in ends) * bits // 8
        kept_bytes = deployment.memory().activation_bytes + buffers if memory else 0
        ddr_bytes = sum(layer.ddr_bytes for layer in result.layers)
        return _Measured(shares, ddr_bytes, kept_bytes, self.platform.energy(result).estimate)


def deployment_of(
    architecture: Architecture,
    platform: Platform,
    conditions: Conditions,
    part: LayerSpan,
    tokens: int,
    context: int,
) -> Deployment:
    """Return the network of a part on its runtime, for `tokens` at once."""
    widths = conditions.widths
    model = decoder(architecture, tokens, context, widths, part.layers, head=part.head)
    return deploy(model, platform, widths.runtime, cpu_fallback=False)


def timelines(model: LanguageModel, platform: Platform) -> dict[str, Result]:
    """Return the events of a token and of a block: a few layers, and the head."""
    layers = min(_FEW, model.parts[-1].layers)
    made = {}
    for name, tokens in (("token", 1), ("block", model.conditions.block)):
        deployment = deployment_of(
            model.architecture,
            platform,
            model.conditions,
            LayerSpan(0, layers, head=True),
            tokens,
            model.conditions.context,
        )
        workload = replace(deployment.workload(), recorded=True)
        made[f"{name}: {layers} layers and the head"] = platform.simulate(workload)
    return made


def share_of(layer: LayerTiming) -> str:
    """Return to which of SHARES the time of a layer belongs."""
    if layer.name == HEAD:
        return "head"
    if layer.type == "fully_connected":
        return "weights"
    kind = layer.name.rpartition(".")[2]
    names = {
        "scores": "attention",
        "attention": "attention",
        "masked": "softmax",
        "softmax": "softmax",
        "key_cache": "cache",
        "value_cache": "cache",
    }
    return names.get(kind, "other")


def gains(speed: LanguageModel, platform: Platform, draft: int) -> tuple[Gain, ...]:
    """Simulate every change that is possible; `draft` tokens are guessed at once, 0 for none.

    Raises HexsimError if `draft` is out of range.
    """
    conditions, architecture = speed.conditions, speed.architecture
    require_number(
        "draft, a number of tokens,", draft, 0, min(MOST_DRAFTED, conditions.context - 2)
    )
    made = [
        _gain(change, speed_of(changed, platform, others, shorter_contexts=False))
        for change, changed, others in _changes(architecture, conditions)
    ]
    unshared = speed.memory_bytes.peak_without_sharing
    own_weights = _gain("each network with its own weights", speed)
    made.append(structs.replace(own_weights, peak_bytes=unshared))
    if draft:
        checked = pass_of(architecture, platform, conditions, draft + 1)
        rate = accepted_tokens(draft) / (checked.ms / 1e3)
        drafted = _gain(f"draft of {draft} tokens, {ACCEPTED:.0%} right", speed)
        made.append(structs.replace(drafted, tokens_per_second=rate))
    return tuple(made)


def _gain(change: str, model: LanguageModel) -> Gain:
    return Gain(
        change=change,
        tokens_per_second=model.tokens_per_second,
        first_token_ms=model.first_token_ms[model.conditions.prompt],
        peak_bytes=model.memory_bytes.peak,
    )


def accepted_tokens(draft: int) -> float:
    """Return the mean number of tokens of a pass that checks a draft, with the one it adds."""
    return sum(ACCEPTED**right for right in range(draft + 1))


def _changes(
    architecture: Architecture, conditions: Conditions
) -> Iterator[tuple[str, Architecture, Conditions]]:
    """Yield names of changes with what they make of a model and its conditions."""
    widths = conditions.widths
    if widths.weights > 4:
        yield "4-bit weights", architecture, replace(conditions, widths=replace(widths, weights=4))
    if widths.head_bits > 4:
        narrow = replace(widths, head_bits=4)
        yield "head of 4-bit weights", architecture, replace(conditions, widths=narrow)
    if widths.cache_bits > 8:
        narrow = replace(widths, cache_bits_stated=8)
        yield "8-bit cache", architecture, replace(conditions, widths=narrow)
    groups = architecture.kv_heads
    if groups % 2 == 0:
        fewer = groups // 4 if groups == architecture.heads and groups % 4 == 0 else groups // 2
        name = f"heads of keys and values: {fewer}, not {groups}"
        yield name, replace(architecture, kv_heads=fewer), conditions
    if conditions.block > 1:
        half = conditions.block // 2
        yield f"blocks of {half} tokens", architecture, replace(conditions, block=half)
    shorter = conditions.context // 2
    if conditions.block < shorter >= conditions.prompt + conditions.generate:
        yield f"context of {shorter} tokens", architecture, replace(conditions, context=shorter)
