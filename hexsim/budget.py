"""Limits on the work that a small input may cause, and how a user raises them.

A file of a few bytes can describe a tensor of 10^12 elements. Code checks these limits before work
whose amount an input determines. They are far above the needs of networks on phones (assumed);
`HEXSIM_BUDGET` in the environment multiplies all of them.

Left out: work that grows with the size of the input itself, such as the weights of a file.
"""

import math
import os
from collections.abc import Sequence

from hexsim.errors import HexsimError
from hexsim.records import dataclass

VARIABLE = "HEXSIM_BUDGET"
_ENDLESS = 1 << 63
"""A product of sizes from which on its value does not matter."""


@dataclass(frozen=True)
class Limit:
    """The greatest amount, in `unit`, at a budget of one."""

    amount: int
    unit: str


TENSOR = Limit(1 << 28, "elements in a tensor")
"""A tensor of 1080 x 1920 pixels with 64 channels has half of this."""
PICTURE = Limit(89_478_485, "pixels in a picture")
"""These take a quarter of a GiB in RGB; Pillow itself warns of more."""
CONSTANTS = Limit(1 << 28, "elements in constants that nodes compute")
"""All such constants of a file together; VGG-19 with weights from nodes has half of this."""
VALUES = Limit(1 << 29, "elements to compute with at once")
"""The tensors of an inference that exist at once, or generated inputs: 2 GiB of float32.

Where all tensors are compared or observed, all exist at once: EDSR, which phones run on 540 x 960
pixels, has 439 million elements, a U-Net of 572 x 572 pixels about 180 million (from their shapes).
Quantising EDSR takes 2.6 GB at its peak (measured). A command that holds values in float and of a
runtime takes up to 18 bytes per element (measured on a network of 235 million), so somewhat more
than 9 GB at most.
"""
NODES = Limit(20_000, "nodes")
"""Including those of subgraphs, and of functions for each call."""
MEAN_IMAGE = Limit(1 << 24, "numbers in a mean image")
"""As doubles, half of what a .dlc file may hold beside its weights."""
ENDS = Limit(10_000, "inputs and outputs")
"""The total of a network. A language model with its cache has some hundreds."""
NAMES = Limit(1_000_000, "names of tensors, attributes and axes")
"""Fifty for each node of the largest network."""
KERNEL_CALLS = Limit(250_000, "kernel calls to simulate")
"""Inferences times the calls of each: some minutes."""
CALLS = Limit(1_000_000, "calls of networks")
"""Calls that follow from a repetition and are not simulated one by one."""
SWEPT = Limit(1 << 26, "numbers in a sweep's answer")
"""Points times columns: half a GiB. A million points with all constants of a chip have as many."""
SWEPT_TEXTS = Limit(1 << 28, "characters in a sweep's answer")
"""The texts of all points; a file may name one text of megabytes for each."""
SWEPT_NAMES = Limit(1 << 26, "characters of different texts in a sweep's answer")
"""Each text once: a sweep has few of them, and each becomes a value that is compared and shown."""
FRONT = Limit(10_000, "points that nothing beats")
"""Each is compared with all points, and shown; a front that people read has some hundreds."""
PAIRED = Limit(1 << 29, "numbers in pairs of a sweep's parameters")
"""Pairs times points: about a minute. A pair counts as a thousand points more, by its time."""
MEASURED = Limit(20_000, "measured rows")
"""Rows, or layers, to calibrate with: each is looked up, and simulated."""
INSTRUCTIONS = Limit(100_000, "instructions")
"""Instructions in the loop of one kernel, which are scheduled one by one."""
SECONDS = Limit(600, "seconds in onnxruntime")
"""Time of one inference: a loop in a file may never end."""
EXPORT = Limit(900, "seconds in an exporter")
"""Time of another framework's exporter, which converts a file to ONNX."""


def allowed(limit: Limit) -> float:
    """Return the amount of `limit` with the user's budget; HexsimError for an invalid budget."""
    text = os.environ.get(VARIABLE, "1")
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not (factor > 0 and math.isfinite(factor)):
        raise HexsimError(
            f"the environment variable {VARIABLE} is '{text}'; set it to a positive number, which "
            "multiplies all limits"
        )
    return limit.amount * factor


def require(limit: Limit, needed: int, what: str) -> None:
    """Raise HexsimError if `what` asks for more than the budget of `limit`.

    `what` is the subject of the sentence, before "asks for".
    """
    granted = allowed(limit)
    if needed > granted:
        raise HexsimError(over(limit, f"{what} asks for {_count(needed)}", granted))


def require_shape(shape: Sequence[int], what: str) -> None:
    """Raise HexsimError if a tensor of `shape` is beyond the budget; a size of zero counts as one.

    Long axes cost time even in tensors without elements.
    """
    elements = 1
    for size in shape:  # the product of all sizes may have millions of digits
        elements = min(elements * max(size, 1), _ENDLESS)
    require(TENSOR, elements, what)


def over(limit: Limit, what: str, granted: float) -> str:
    """Return the error message for `what`, which exceeds the `granted` amount of `limit`."""
    return (
        f"{what}, and the budget is {_count(granted)} {limit.unit}; make it smaller, or multiply "
        f"all limits by the environment variable {VARIABLE}"
    )


def _count(number: float) -> str:
    """Return a number with few digits."""
    return f"{number:.3g}" if number >= 1e7 else f"{number:.10g}"
