"""Three small depthwise separable networks for 8x8 digits, as lists of steps.

They differ only in what stands behind their convolutions:

- `relu`: batch norm and ReLU behind each;
- `relu6`: batch norm and ReLU6 behind each, as in MobileNetV1;
- `friendly`: nothing behind the depthwise step, batch norm and ReLU behind the others, the
  quantisation-friendly separable convolution of Sheng et al., arXiv:1803.08607.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["relu", "relu6", "friendly"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SEEDS = range(5)
"""One network of each kind was trained from each."""

WIDTH = 32
"""Channels of the first convolution."""

BLOCKS = ((1, 64), (2, 64), (1, 128))
"""Stride of the depthwise and channels of the pointwise convolution of each block."""

CLASSES = 10


@dataclass(frozen=True)
class Step:
    """A convolution and what follows it; it reads `inputs` channels."""

    name: str
    inputs: int
    outputs: int
    kernel: int = 1
    stride: int = 1
    depthwise: bool = False
    norm: bool = True
    activation: Literal["Relu", "Relu6"] | None = "Relu"


def steps(kind: Kind) -> tuple[Step, ...]:
    """Return the convolutions of a network; a mean over the image and a matrix follow."""
    activation: Literal["Relu", "Relu6"] = "Relu6" if kind == "relu6" else "Relu"
    made = [Step("conv0", 1, WIDTH, 3, activation=activation)]
    for index, (stride, outputs) in enumerate(BLOCKS, start=1):
        inputs, plain = made[-1].outputs, kind == "friendly"
        between = None if plain else activation
        made += [
            Step(f"dw{index}", inputs, inputs, 3, stride, True, not plain, between),
            Step(f"pw{index}", inputs, outputs, activation=activation),
        ]
    return tuple(made)
