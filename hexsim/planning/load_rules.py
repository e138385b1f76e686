"""Which runtime loads which file, and how: rules with one sentence each.

A file is float or quantised. A rule says for some runtimes whether they load it unchanged, convert
its weights at load, or refuse it; its sentence is used in messages and in the documentation.
Releases differ only in a float file on dsp, which the stack states.

Left out: the fixed-point mode of the CPU runtime (releases from 2.1 on), which loads a quantised
file unchanged.
Source: SNPE guides 1.17 to 2.5, quantized vs non-quantized models (documented).
"""

from dataclasses import dataclass
from typing import Literal

from hexsim.datasheets.stacks.stack import Stack
from hexsim.runtimes import Runtime

Effect = Literal["native", "quantise", "dequantise", "refuse"]


@dataclass(frozen=True)
class LoadRule:
    """How some runtimes load files that are quantised, or those that are float."""

    runtimes: frozenset[Runtime]
    quantized: bool
    effect: Effect
    sentence: str


_FLOAT: frozenset[Runtime] = frozenset({"cpu", "gpu", "gpu_fp16", "htp_fp16"})

RULES: tuple[LoadRule, ...] = (
    LoadRule(_FLOAT, False, "native", "floats are taken as they are"),
    LoadRule(_FLOAT, True, "dequantise", "weights are dequantised at load"),
    LoadRule(
        frozenset({"dsp", "aip", "fxp_cpu", "htp"}), True, "native", "codes are taken as they are"
    ),
    LoadRule(frozenset({"dsp"}), False, "quantise", "weights are quantised at load"),
    LoadRule(
        frozenset({"dsp"}),
        False,
        "refuse",
        "from release 2.0 on it loads quantised networks only",
    ),
    LoadRule(
        frozenset({"aip", "htp"}),
        False,
        "refuse",
        "it loads quantised networks only, which a converter has prepared",
    ),
    LoadRule(
        frozenset({"fxp_cpu"}),
        False,
        "refuse",
        "it loads quantised networks only, having no quantiser of its own",
    ),
)


def load_rule(runtime: Runtime, stack: Stack, *, quantized: bool) -> LoadRule:
    """Return the rule for a file on `runtime` under `stack`."""
    matching = [r for r in RULES if runtime in r.runtimes and r.quantized is quantized]
    if len(matching) > 1:
        matching = [rule for rule in matching if rule.effect == stack.load.float_on_dsp]
    (rule,) = matching
    return rule
