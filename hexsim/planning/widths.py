"""Which bit widths the DSP or tensor processor of a chip and a software release compute with.

On aip the layers of HTA sections and the others are not told apart: the widest of both holds.

On a tensor processor the table of the release has the layers that do not support 16-bit activations
(`hexsim.datasheets.operators`). Elsewhere they were published for the tensor accelerator of AIP
only, so all layers support them.
"""

from hexsim.datasheets.chips import Chip
from hexsim.datasheets.stacks import Stack
from hexsim.errors import HexsimError, spelled
from hexsim.quantization.model import Model
from hexsim.runtimes import Runtime

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
                    f"activations, and {runtime} of {owner} computes with {limit} bits (16 need a "
                    f"Snapdragon 865 or later and a stack of 2.x); quantise with "
                    f"{spelled('activation_bits', 8)}, or run on fxp_cpu or cpu"
                )


def _stack_bits(runtime: Runtime, stack: Stack) -> int:
    """Return the widest activations of a runtime; on aip those of the tensor engine count too."""
    on_hta = stack.partitioning.hta_activation_bits if runtime == "aip" else ()
    return max((stack.quantization.activation_bits, *on_hta))
