"""The graph of a subnet on the vector unit, with the sizes that Hexagon NN gives its tensors.

Nobody knows at preparation how much padding a kernel will ask for, so a tensor in d32 gets the
most: eight rows, up to seven pixels a row, whole sheets of channels. All sizes are whole vectors,
with a guard of one vector on either side. Inputs are flat codes and are brought into d32 by nodes
of their own, and outputs out of it. Kernels share one scratch memory.

Left out: concats whose producers write in place (their inputs rarely have one encoding), and
scratch that grows because of one very large layer.

Sources (documented): Hexagon NN, hexagon/src/newnode.c (sizes), allocate.c (guards), nn_graph.h
(scratch). That SNPE's own build does the same is inferred.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels import Target, packed_bytes, vtcm_bytes
from hexsim.hvx.layout import (
    PIXELS,
    SHEET,
    VECTOR_BYTES,
    ceil_div,
    code_bytes,
    flat_tensors,
    is_spatial,
)
from hexsim.hvx.orientation import laid_down
from hexsim.memory.arena import ArenaNode
from hexsim.memory.graph import SubnetGraph, layer_nodes
from hexsim.planning.plan import PlannedSubnet

SCRATCH_BYTES = 8 << 20
"""Of one graph, whatever its layers."""
_GUARDS = 2 * VECTOR_BYTES
_PADDING_ROWS = 8
_PADDING_PIXELS = 4
"""Pixels beside those that fill the last vector of a row."""


def flat_bytes(shape: Shape, code: int) -> int:
    """Bytes of a flat tensor with its guards; `code` is the bytes of one code."""
    return _guarded(math.prod(shape) * code)


def d32_bytes(shape: Shape, code: int) -> int:
    """Bytes of a tensor in d32 with its padding and guards."""
    batch, height, width, channels = as_nhwc(shape)
    pixels = ceil_div(width, PIXELS) * PIXELS + _PADDING_PIXELS
    depth = ceil_div(channels, SHEET) * SHEET
    return _guarded(batch * (height + _PADDING_ROWS) * pixels * depth * code)


def _guarded(size: int) -> int:
    return ceil_div(size, VECTOR_BYTES) * VECTOR_BYTES + _GUARDS


def on_hvx(
    subnet: PlannedSubnet, target: Target, *, from_hta: Collection[str], leaving: Collection[str]
) -> SubnetGraph:
    """Return the graph of a subnet.

    Inputs `from_hta` lie in the memory of the tensor engine. Outputs `leaving` become flat codes;
    the others are brought straight to that engine.
    """
    subnet = laid_down(subnet)
    tensors = _Tensors(subnet)
    arriving = [name for name in subnet.inputs if name not in from_hta]
    outgoing = [name for name in subnet.outputs if name in leaving]
    ready = [name for name in subnet.inputs if name in from_hta and name in tensors.flat]
    return SubnetGraph(
        subnet,
        before=(
            ArenaNode((), tuple(map(tensors.flat_form, (*arriving, *ready)))),
            *(
                ArenaNode((tensors.flat_form(name)[0],), ((name, tensors.size(name)),))
                for name in subnet.inputs
                if name not in tensors.flat
            ),
        ),
        layers=layer_nodes(subnet, lambda name, shape: tensors.size(name)),
        after=(
            *(
                ArenaNode((name,), (tensors.flat_form(name, "output"),))
                for name in outgoing
                if name not in tensors.flat
            ),
            ArenaNode(
                tuple(
                    tensors.flat_form(name, "output")[0] if name in leaving else name
                    for name in subnet.outputs
                ),
                (),
            ),
        ),
        packed=tuple(packed_bytes(call, target) for call in subnet.calls),
        on_chip=tuple(vtcm_bytes(call, target) for call in subnet.calls),
        scratch_bytes=SCRATCH_BYTES,
    )


@dataclass(frozen=True)
class _Tensors:
    """Sizes of the tensors of a subnet, in the form that its kernels read and write, and flat."""

    subnet: PlannedSubnet

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """By name, operands that are constants left out."""
        shapes = dict(zip(self.subnet.inputs, self.subnet.input_shapes, strict=True))
        for call in self.subnet.calls:
            shapes.update(zip(call.layer.outputs, call.results, strict=True))
        return shapes

    @cached_property
    def flat(self) -> frozenset[str]:
        """Those that never see d32."""
        small = {name for name, shape in self.shapes.items() if not is_spatial(shape)}
        return flat_tensors(self.subnet) | small

    def size(self, name: str) -> int:
        """Bytes as kernels have it."""
        shape, code = self.shapes[name], code_bytes(self.subnet, name)
        return flat_bytes(shape, code) if name in self.flat else d32_bytes(shape, code)

    def flat_form(self, name: str, side: str = "input") -> tuple[str | tuple[str, str], int]:
        """Name and bytes of its flat codes on one side of the subnet, perhaps the tensor itself."""
        size = flat_bytes(self.shapes[name], code_bytes(self.subnet, name))
        return (name if name in self.flat else (name, side)), size
