"""The graph of a subnet on the vector unit, with the sizes that Hexagon NN gives its tensors.

The padding that a kernel needs is not known at preparation, so a tensor in d32 gets the
maximum: eight rows, up to seven pixels a row, whole blocks of 32 channels. All sizes are whole
vectors, with a guard of one vector on either side. Nodes of their own convert inputs from flat
codes (quantised values) to d32, and outputs back. Kernels share one scratch memory.

Left out: concats whose producers write in place (their inputs rarely have the same encoding), and
scratch that grows for a very large layer.

Sources (documented): Hexagon NN, hexagon/src/newnode.c (sizes), allocate.c (guards), nn_graph.h
(scratch). That SNPE's own build does the same is inferred.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from hexsim.graph.ir import Shape
from hexsim.graph.nhwc import as_nhwc
from hexsim.hvx.kernels import Target, packed_bytes, vtcm_bytes
from hexsim.hvx.layout import (
    DEPTH_SLICE,
    PIXELS,
    VECTOR_BYTES,
    ceil_div,
    code_bytes,
    flat_tensors,
    is_spatial,
)
from hexsim.memory.arena import ArenaNode
from hexsim.memory.graph import SubnetGraph, layer_nodes
from hexsim.planning.orientation import laid_down
from hexsim.planning.plan import PlannedSubnet

SCRATCH_BYTES = 8 << 20
"""Scratch memory of one graph, independent of its layers."""
_GUARDS = 2 * VECTOR_BYTES
_PADDING_ROWS = 8
_PADDING_PIXELS = 4
"""Additional pixels after those that fill the last vector of a row."""


def flat_bytes(shape: Shape, code: int) -> int:
    """Return the bytes of a flat tensor with its guards; a quantised value has `code` bytes."""
    return _guarded(math.prod(shape) * code)


def d32_bytes(shape: Shape, code: int) -> int:
    """Return the bytes of a tensor in d32 with its padding and guards."""
    batch, height, width, channels = as_nhwc(shape)
    pixels = ceil_div(width, PIXELS) * PIXELS + _PADDING_PIXELS
    depth = ceil_div(channels, DEPTH_SLICE) * DEPTH_SLICE
    return _guarded(batch * (height + _PADDING_ROWS) * pixels * depth * code)


def _guarded(size: int) -> int:
    return ceil_div(size, VECTOR_BYTES) * VECTOR_BYTES + _GUARDS


def on_hvx(
    subnet: PlannedSubnet, target: Target, *, from_hta: Collection[str], leaving: Collection[str]
) -> SubnetGraph:
    """Return the graph of a subnet.

    Inputs in `from_hta` are in the memory of the tensor engine. Outputs in `leaving` become flat
    codes; the others are converted directly to the layout of that engine.
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
    """Sizes of the tensors of a subnet, in the layout of its kernels and flat."""

    subnet: PlannedSubnet

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """Shapes by name, without constant operands."""
        shapes = dict(zip(self.subnet.inputs, self.subnet.input_shapes, strict=True))
        for call in self.subnet.calls:
            shapes.update(zip(call.layer.outputs, call.results, strict=True))
        return shapes

    @cached_property
    def flat(self) -> frozenset[str]:
        """The tensors that are never in d32."""
        small = {name for name, shape in self.shapes.items() if not is_spatial(shape)}
        return flat_tensors(self.subnet) | small

    def size(self, name: str) -> int:
        """Return the bytes of a tensor in the layout of its kernels."""
        shape, code = self.shapes[name], code_bytes(self.subnet, name)
        return flat_bytes(shape, code) if name in self.flat else d32_bytes(shape, code)

    def flat_form(self, name: str, side: str = "input") -> tuple[str | tuple[str, str], int]:
        """Return name and bytes of a flat form; a tensor that is always flat keeps its name."""
        size = flat_bytes(self.shapes[name], code_bytes(self.subnet, name))
        return (name if name in self.flat else (name, side)), size
