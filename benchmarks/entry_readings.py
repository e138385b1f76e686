"""Two readings of what snpe-1.23 spends before the graph, on inputs of other sizes.

All measured networks of that stack have inputs of nearly 224x224x3, so a time per element and a
constant fit them alike. Chosen is the time per element. Here the other reading stands beside it.
"""

from __future__ import annotations

from hexsim.datasheets.stacks import Stack
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.passes.network_inputs import resized
from hexsim.quantization.model import Model
from hexsim.reports.text import table

NETWORKS = ("mobilenet_v1", "squeezenet1_1")
MEASURED = (224, 224)
SIZES = ((96, 96), MEASURED, (448, 448), (1080, 1920))

_PER_ELEMENT = "entry.input_conversion.clk_per_element"
_CONSTANT = "dispatch.inference_clk"


def constant_reading(stack: Stack) -> Stack:
    """The stack with its input conversion as a constant, equal on the measured input size."""
    elements = MEASURED[0] * MEASURED[1] * 3
    clocks = elements * stack.entry.input_conversion.clk_per_element
    constant = stack.dispatch.inference_clk + clocks
    return stack.with_value(_PER_ELEMENT, 0.0).with_value(_CONSTANT, constant)


def readings_table() -> str:
    """Return total inference times on sd835 dsp under both readings."""
    chosen = Platform.load("sd835", "snpe-1.23")
    other = Platform(chosen.chip, constant_reading(chosen.stack))
    rows = []
    for name in NETWORKS:
        network = load(name).network
        for height, width in SIZES:
            model = Model(resized(network, {network.inputs[0]: (1, 3, height, width)}))
            first, second = (
                deploy(model, platform, "dsp").simulate().total_us / 1e3
                for platform in (chosen, other)
            )
            size = f"1x{height}x{width}x3"
            rows.append((name, size, f"{first:.2f}", f"{second:.2f}", f"{second / first - 1:+.0%}"))
    header = ("network", "input", "per element (ms)", "constant (ms)", "constant is")
    return table(header, rows, left=frozenset({0, 1}))
