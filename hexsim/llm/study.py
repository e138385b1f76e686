"""The speed and the memory of a language model on a platform.

A block of the prompt and a token are simulated once each, part by part, because the shapes of
their graphs do not change: the prompt is processed in whole blocks, and a token attends to the
whole context that the graph was compiled for, however full it is. Left out: the tokeniser, the
look-up of embeddings and the choice of the next token on the CPU, loading, and temperature.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hexsim.datasheets.estimate import Estimate
from hexsim.deployment import Deployment, deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError, require_number
from hexsim.llm.architecture import Architecture
from hexsim.llm.network import HEAD, Widths, decoder
from hexsim.llm.parts import GIGABYTE, Part, part_bytes, split
from hexsim.timing.results import LayerTiming, Result
from hexsim.timing.simtime import PS_PER_SECOND

_W4A16 = Widths()
_MOST_TOKENS = 1 << 20
_SHORTEST_CONTEXT = 512
"""Contexts for which speeds are listed are halved down to this one."""
_FEW = 2
"""Layers of a part that are simulated. All layers of a model are equal, so a longer part takes as
much more for each further layer as the last of these does."""
SHARES = ("weights", "head", "attention", "softmax", "cache", "other", "start", "hand-over")
"""What the time of a block or token is spent on, in the order of reports."""


@dataclass(frozen=True)
class Conditions:
    """How a model is deployed and used.

    `context` is the number of tokens for which its graphs are compiled, `block` that of a block of
    the prompt. Parts take at most `part_gb` gigabytes of weights and cache.
    """

    widths: Widths = _W4A16
    context: int = 4096
    prompt: int = 1024
    generate: int = 256
    block: int = 128
    part_gb: float = 2.0

    def __post_init__(self) -> None:
        """Raise HexsimError for values out of range, or that do not fit together."""
        for name, least in (("context", 2), ("prompt", 1), ("generate", 0), ("block", 1)):
            value = getattr(self, name)
            if type(value) is not int:
                raise HexsimError(f"{name} is a whole number of tokens, not {value!r}")
            require_number(f"{name}, a number of tokens,", value, least, _MOST_TOKENS)
        require_number("the size of a part in GB", self.part_gb, 0.01, 4)
        if self.block >= self.context:
            raise HexsimError(
                f"a block of {self.block} tokens does not fit a context of {self.context}; give a "
                "shorter block or a longer context"
            )
        if self.prompt + self.generate > self.context:
            raise HexsimError(
                f"{self.prompt} tokens of the prompt and {self.generate} generated ones do not fit "
                f"a context of {self.context}; give a longer context or fewer tokens"
            )


@dataclass(frozen=True)
class Pass:
    """One pass through all parts: a block of the prompt, or a token.

    `seconds` in all, and what they are spent on by SHARES; `ddr_bytes` from and to DDR; `energy` in
    millijoules, without that of hand-overs.
    """

    seconds: float
    parts_s: Mapping[str, float]
    ddr_bytes: int
    energy: Estimate


@dataclass(frozen=True)
class Memory:
    """Bytes that a deployment keeps in memory.

    `weights` are those of both networks, which share them. `embedding` is the table that the CPU
    reads, `activations` the arenas of all parts and their buffers beside the cache. Without shared
    weights both networks have their own.
    """

    weights: int
    embedding: int
    cache: int
    activations: int

    @property
    def peak(self) -> int:
        """The total."""
        return self.weights + self.embedding + self.cache + self.activations

    @property
    def peak_without_sharing(self) -> int:
        """The total if each of the two networks has its weights."""
        return self.peak + self.weights


@dataclass(frozen=True)
class LanguageModelSpeed:
    """What a model does on a platform under conditions."""

    architecture: Architecture
    platform: Platform
    conditions: Conditions
    parts: tuple[Part, ...]
    block: Pass
    token: Pass
    memory: Memory
    by_context: Mapping[int, float]
    """Tokens per second of graphs that are compiled for shorter contexts."""

    @property
    def tokens_per_second(self) -> float:
        """The rate at which tokens are generated."""
        return 1.0 / self.token.seconds

    def first_token_s(self, prompt: int) -> float:
        """Return the time from the start of a prompt to its first token."""
        return -(-prompt // self.conditions.block) * self.block.seconds

    @property
    def total_s(self) -> float:
        """The time of the whole answer; the last block of the prompt gives the first token."""
        more = max(0, self.conditions.generate - 1)
        return self.first_token_s(self.conditions.prompt) + more * self.token.seconds

    @property
    def part_sizes(self) -> tuple[int, ...]:
        """Bytes of weights and cache of each part."""
        conditions = self.conditions
        return tuple(
            part_bytes(self.architecture, part, conditions.widths, conditions.context)
            for part in self.parts
        )


def speed_of(
    architecture: Architecture,
    platform: Platform,
    conditions: Conditions,
    *,
    shorter_contexts: bool = True,
) -> LanguageModelSpeed:
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
    by_context = {conditions.context: 1.0 / token.seconds}
    context = conditions.context // 2
    while shorter_contexts and context >= max(_SHORTEST_CONTEXT, 2):
        by_context[context] = 1.0 / simulated.run(1, context, memory=False)[0].seconds
        context //= 2
    return LanguageModelSpeed(
        architecture=architecture,
        platform=platform,
        conditions=conditions,
        parts=parts,
        block=block,
        token=token,
        memory=Memory(
            weights=_weight_bytes(architecture, widths),
            embedding=architecture.head_weights * widths.head_bits // 8,
            cache=architecture.cache_bytes(conditions.context, widths.cache_bits),
            activations=activations + of_token,
        ),
        by_context=dict(sorted(by_context.items())),
    )


def pass_of(
    architecture: Architecture, platform: Platform, conditions: Conditions, tokens: int
) -> Pass:
    """Simulate one pass of `tokens` at once; errors as in `speed_of`."""
    widths = conditions.widths
    parts = split(architecture, widths, conditions.context, conditions.part_gb * GIGABYTE)
    simulated = _Simulated(architecture, platform, conditions, parts)
    return simulated.run(tokens, conditions.context, memory=False)[0]


def _weight_bytes(architecture: Architecture, widths: Widths) -> int:
    matrices = architecture.layers * architecture.layer_weights * widths.weights
    return (matrices + architecture.head_weights * widths.head_bits) // 8


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
    parts: tuple[Part, ...]

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
                    few = Part(0, count, head=part.head)
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
        return Pass(sum(seconds.values()), seconds, ddr_bytes, energy), kept_bytes

    def part(self, part: Part, tokens: int, context: int, *, memory: bool) -> _Measured:
        """Simulate one pass through a part."""
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
    part: Part,
    tokens: int,
    context: int,
) -> Deployment:
    """Return the network of a part on its runtime, for `tokens` at once."""
    widths = conditions.widths
    model = decoder(architecture, tokens, context, widths, part.layers, head=part.head)
    return deploy(model, platform, widths.runtime, cpu_fallback=False)


def timelines(speed: LanguageModelSpeed) -> tuple[tuple[str, Result], ...]:
    """Return the events of a token and of a block: a few layers, and the head."""
    layers = min(_FEW, len(speed.parts[-1].layers))
    made = []
    for name, tokens in (("token", 1), ("block", speed.conditions.block)):
        deployment = deployment_of(
            speed.architecture,
            speed.platform,
            speed.conditions,
            Part(0, layers, head=True),
            tokens,
            speed.conditions.context,
        )
        workload = replace(deployment.workload(), recorded=True)
        made.append((f"{name}: {layers} layers and the head", speed.platform.simulate(workload)))
    return tuple(made)


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
