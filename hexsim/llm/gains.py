"""What would make a language model faster or smaller: each change is simulated anew.

A draft of tokens for speculative decoding is assumed to come from a look-up in the text, which
costs nothing; the model then checks all of them in one pass, and the first wrong one ends what is
used. Answers change with narrower heads and fewer heads of keys; that is not judged here.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hexsim.errors import require_number
from hexsim.llm.architecture import Architecture
from hexsim.llm.study import Conditions, LanguageModelSpeed, pass_of, speed_of

ACCEPTED = 0.7
"""Share of drafted tokens that are right, each if those before it are (assumed)."""
MOST_DRAFTED = 64


@dataclass(frozen=True)
class Gain:
    """A change, with the rate, the time and the bytes of memory that come of it."""

    change: str
    tokens_per_second: float
    first_token_s: float
    peak_bytes: int


def gains(speed: LanguageModelSpeed, draft: int) -> tuple[Gain, ...]:
    """Simulate every change that is possible; `draft` tokens are guessed at once, 0 for none.

    Raises HexsimError if `draft` is out of range.
    """
    most = min(MOST_DRAFTED, speed.conditions.context - 2)
    require_number("draft, a number of tokens,", draft, 0, most)
    prompt = speed.conditions.prompt
    made = [
        Gain(change, other.tokens_per_second, other.first_token_s(prompt), other.memory.peak)
        for change, architecture, conditions in _changes(speed.architecture, speed.conditions)
        for other in (speed_of(architecture, speed.platform, conditions, shorter_contexts=False),)
    ]
    first_s, peak = speed.first_token_s(prompt), speed.memory.peak
    unshared = speed.memory.peak_without_sharing
    own_weights = "each network with its own weights"
    made.append(Gain(own_weights, speed.tokens_per_second, first_s, unshared))
    if draft:
        checked = pass_of(speed.architecture, speed.platform, speed.conditions, draft + 1)
        rate = accepted_tokens(draft) / checked.seconds
        name = f"draft of {draft} tokens, {ACCEPTED:.0%} right"
        made.append(Gain(name, rate, first_s, peak))
    return tuple(made)


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
        yield (
            "8-bit cache",
            architecture,
            replace(conditions, widths=replace(widths, cache_bits_stated=8)),
        )
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
