"""conv1x1: one 1x1 convolution of any size, the probe of published kernel measurements.

A name is `conv1x1_<input channels>to<output channels>`, optionally followed by
`@<height>x<width>` of the image, 1x1 if absent. `conv1x1_1920to5120@113x1` has the input
1x1920x113x1 (NCHW), which is 1x113x1x1920 in NHWC.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hexsim.errors import HexsimError

if TYPE_CHECKING:
    from ._built import BuiltModel

MEASURED = (
    "conv1x1_1to1",
    "conv1x1_1to1@1024x1024",
    "conv1x1_1to1@256x256",
    "conv1x1_1920to5120@113x1",
    "conv1x1_3072to768@1024x1",
    "conv1x1_768to768@1024x1",
    "conv1x1_960to960@1x113",
)
"""The probes of the measurement file."""

MAX_WEIGHTS = (2**31 - 2**16) // 4
"""An ONNX file is one protobuf message, which holds less than 2 GiB of float weights."""

_NAME = re.compile(r"conv1x1_([1-9]\d*)to([1-9]\d*)(?:@([1-9]\d*)x([1-9]\d*))?")


def is_probe(name: str) -> bool:
    """Tell whether `name` asks for a probe, well written or not."""
    return name.startswith("conv1x1")


def build(name: str) -> BuiltModel:
    """Return the probe called `name`.

    Raises HexsimError if the name does not give a size, or one too big for a file.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise HexsimError(
            f"unknown network '{name}'; a probe is called conv1x1_CINtoCOUT or "
            "conv1x1_CINtoCOUT@HxW with positive sizes, for example conv1x1_1920to5120@113x1"
        )
    in_channels, out_channels, height, width = (int(size or 1) for size in match.groups())
    if in_channels * out_channels > MAX_WEIGHTS:
        raise HexsimError(
            f"network '{name}' has {in_channels * out_channels} weights, more than the "
            f"{MAX_WEIGHTS} that an ONNX file can hold; choose fewer channels"
        )
    from ._builder import Builder  # with numpy, which names are known without

    net = Builder(name, "input", (1, in_channels, height, width))
    return net.finish(net.conv("input", "conv", out_channels, 1))
