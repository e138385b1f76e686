"""What a small input may ask for before it is refused, and how a user allows more.

A file of a few bytes can speak of a tensor of 10^12 elements. Whoever is about to do work that
grows with what an input says asks here first. The limits are far above what networks of phones
need (assumed); `HEXSIM_BUDGET` in the environment multiplies all of them.

Left out: work that grows with the size of the input itself, such as the weights of a file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

from hexsim.errors import HexsimError

VARIABLE = "HEXSIM_BUDGET"


@dataclass(frozen=True)
class Limit:
    """The most of something, in `unit`, at a budget of one."""

    amount: int
    unit: str


TENSOR = Limit(1 << 28, "elements in a tensor")
"""A picture of 1080 x 1920 pixels has half of them with 64 channels."""
PICTURE = Limit(89_478_485, "pixels in a picture")
"""A quarter of a GiB of red, green and blue; Pillow itself warns of more."""
CONSTANTS = Limit(1 << 28, "elements in constants that nodes compute")
"""All such constants of a file together; VGG-19 with its weights made by nodes has half of them."""
VALUES = Limit(1 << 28, "elements to compute with at once")
"""All tensors of an inference, or inputs that are made up: 1 GiB of singles.

A U-Net of 572 x 572 pixels has about 180 million (from its shapes). A command that holds values of
floats and of a runtime takes up to 18 bytes per element (measured on a network of 235 million), so
somewhat more than 4 GiB at most.
"""
NODES = Limit(20_000, "nodes")
"""With those of subgraphs, and of functions wherever they are called."""
ENDS = Limit(10_000, "inputs and outputs")
"""Of a network. A language model with its cache has some hundreds."""
NAMES = Limit(1_000_000, "names of tensors, attributes and axes")
"""Fifty for each node of the largest network."""
KERNEL_CALLS = Limit(250_000, "kernel calls to simulate")
"""Inferences times the calls of each: some minutes."""
CALLS = Limit(1_000_000, "calls of networks")
"""That follow from a repetition, and are not simulated one by one."""
INSTRUCTIONS = Limit(100_000, "instructions")
"""In the loop of one kernel; they are scheduled one by one."""
SECONDS = Limit(600, "seconds in onnxruntime")
"""Of one inference: a loop of the file may have no end."""
EXPORT = Limit(900, "seconds in an exporter")
"""Of another framework, which brings a file to ONNX."""


def allowed(limit: Limit) -> float:
    """How much of `limit` the user's budget allows; HexsimError for a budget that is none."""
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


def require(limit: Limit, asked: int, what: str) -> None:
    """Raise HexsimError if `what` would take more than the budget of `limit`: `asked`.

    `what` is a name that "asks for" can follow.
    """
    granted = allowed(limit)
    if asked > granted:
        raise HexsimError(over(limit, f"{what} asks for {_count(asked)}", granted))


def require_shape(shape: Sequence[int], what: str) -> None:
    """Raise HexsimError if a tensor of `shape` is beyond the budget; a size of zero counts as one.

    Programs take their time over long axes of tensors without elements, too.
    """
    require(TENSOR, math.prod(max(size, 1) for size in shape), what)


def over(limit: Limit, what: str, granted: float) -> str:
    """The sentence on something that is more than was `granted` of `limit`."""
    return (
        f"{what}, and the budget is {_count(granted)} {limit.unit}; make it smaller, or multiply "
        f"all limits by the environment variable {VARIABLE}"
    )


def _count(number: float) -> str:
    """A number that a reader can take in."""
    return f"{number:.3g}" if number >= 1e7 else f"{number:.10g}"
