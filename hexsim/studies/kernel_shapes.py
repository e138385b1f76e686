"""Kernels by name and shape: `conv 56x56x64:64:3x3` as a kernel call, without a network.

Images are height x width x channels. `hexsim.studies.probes` defines the kinds.
"""

import re

from hexsim.errors import HexsimError, InvalidDataError, spelled, unknown
from hexsim.graph.ir import Shape
from hexsim.planning.plan import KernelCall
from hexsim.studies.probes import KINDS, Sizes

_LARGEST = 65_536


def kernel_call(kind: str, text: str) -> KernelCall:
    """Return the kernel call that `text` describes; HexsimError if it describes none."""
    if kind not in KINDS:
        raise unknown("kernel", kind, KINDS)
    kernel_kind = KINDS[kind]
    match = re.fullmatch(kernel_kind.pattern, text, re.ASCII)
    if match is None:
        raise HexsimError(
            f"{spelled('shape')} '{text}' is not a shape that {kind} takes; write e.g. "
            f"{kernel_kind.example}"
        )
    typed = f"{spelled('shape')} '{text}'"
    sizes = {name: int(value) for name, value in match.groupdict().items() if value}
    for size in sizes.values():
        if not 1 <= size <= _LARGEST:
            raise HexsimError(f"{typed}: sizes are from 1 to {_LARGEST}, not {size}")
    groups = sizes.get("g", 1)
    if sizes["c"] % groups or sizes.get("out", 0) % groups:
        raise HexsimError(f"{typed}: {groups} groups do not divide both channel counts")
    equal_shapes = (_source(sizes),) * kernel_kind.inputs
    operands = equal_shapes if kernel_kind.operands is None else kernel_kind.operands(sizes)
    try:
        layer = kernel_kind.layer(sizes)
        results = layer.output_shapes(operands)
    except InvalidDataError as error:
        raise HexsimError(f"{typed}: {error}") from None
    if min(results[0]) < 1:
        raise HexsimError(f"{typed}: the window is larger than the image")
    return KernelCall(
        layer=layer,
        engine="hvx",
        operands=operands,
        results=results,
        parameters=kernel_kind.parameters(sizes),
        activation_bits=8,
        weight_bits=8,
        symmetric_weights=False,
        operand_bits=kernel_kind.operand_bits,
    )


def _source(sizes: Sizes) -> Shape:
    if "h" in sizes:
        return (1, sizes["h"], sizes["w"], sizes["c"])
    return (sizes.get("n", 1), sizes["c"])
