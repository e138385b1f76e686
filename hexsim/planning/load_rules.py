"""Which runtime loads which file, and with which bit widths it computes.

A file is float or quantised. A rule says for some runtimes whether they load it unchanged, convert
its weights at load, or refuse it; its sentence is used in messages and in the documentation.
Releases differ only in a float file on dsp, which the stack states.

Left out: the fixed-point mode of the CPU runtime (releases from 2.1 on), which loads a quantised
file unchanged.
Source: SNPE guides 1.17 to 2.5, quantized vs non-quantized models (documented).

On aip the layers of HTA sections and the others are not told apart: the widest of both holds.

On a tensor processor the table of the release has the layers that do not support 16-bit activations
(`hexsim.datasheets.operators`). Elsewhere they were published for the tensor accelerator of AIP
only, so all layers support them.
"""

from typing import Literal

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.datasheets.stacks import load as load_stack
from hexsim.datasheets.stacks import names as stack_names
from hexsim.errors import HexsimError, spelled
from hexsim.quantization.model import Model
from hexsim.records import dataclass
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
        frozenset({"dsp"}), False, "refuse", "from release 2.0 on it loads quantised networks only"
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


_WIDEST_WEIGHT = 8
"""Bits of the weights that Hexagon NN's kernels multiply by (documented: SNPE pairs 16-bit
activations with 8-bit weights, and so do the kernels named in its sources)."""


def require_widths(model: Model, runtime: Runtime, chip: Chip, stack: Stack) -> None:
    """Raise HexsimError naming the tensor, if `runtime` cannot compute with its bit width."""
    if runtime not in ("dsp", "aip", "htp"):
        return
    for layer in model.network.layers:
        for name in layer.parameters[:1]:
            weight = model.parameters.get(name)
            if weight is not None and weight.bitwidth > _WIDEST_WEIGHT:
                raise HexsimError(
                    f"network '{model.name}': weight '{name}' of layer '{layer.name}' has "
                    f"{weight.bitwidth} bits, and on {runtime} no kernel multiplies by more than "
                    f"{_WIDEST_WEIGHT}; quantise with {spelled('weight_bits', 8)}, or run on "
                    "fxp_cpu"
                )
    for limit, owner in (
        (chip.activation_bits(runtime), f"chip {chip.name}"),
        (_stack_bits(runtime, stack), f"stack {stack.name}"),
    ):
        for name, encoding in model.activations.items():
            if encoding.bitwidth > limit:
                raise HexsimError(
                    f"network '{model.name}': tensor '{name}' has {encoding.bitwidth}-bit "
                    f"activations, and {runtime} of {owner} computes with {limit} bits; "
                    f"{_wider(runtime, chip, stack, encoding.bitwidth)}quantise with "
                    f"{spelled('activation_bits', 8)}, or run on fxp_cpu or cpu"
                )


def _wider(runtime: Runtime, chip: Chip, stack: Stack, bits: int) -> str:
    """Return what to do to compute with so many bits on this chip, nothing if it cannot."""
    if chip.activation_bits(runtime) < bits:
        return "16 need a Snapdragon 765, 865 or later; " if runtime != "htp" else ""
    ways = [f"take {spelled('runtime', 'aip')}"] if _takes("aip", chip, stack, bits) else []
    others = (load_stack(name) for name in stack_names() if name != stack.name)
    wide = [other.name for other in others if _takes(runtime, chip, other, bits)]
    ways += [f"take {spelled('stack', wide[0])}"] if wide else []
    return "".join(f"{way}, " for way in ways)


def _takes(runtime: Runtime, chip: Chip, stack: Stack, bits: int) -> bool:
    has_it = runtime in chip.runtimes and runtime in stack.runtimes
    return has_it and min(chip.activation_bits(runtime), _stack_bits(runtime, stack)) >= bits


def _stack_bits(runtime: Runtime, stack: Stack) -> int:
    """Return the widest activations of a runtime; on aip those of the tensor engine count too."""
    on_hta = stack.partitioning.hta_activation_bits if runtime == "aip" else ()
    return max((stack.quantization.activation_bits, *on_hta))
