"""The graphs of subnets on their engines, with the sizes that each gives its tensors.

On the vector unit tensors have the sizes that Hexagon NN gives them. The padding that a kernel
needs is not known at preparation, so a tensor in d32 gets the maximum: eight rows, up to seven
pixels a row, whole blocks of 32 channels. All sizes are whole vectors, with a guard of one vector
on either side. Nodes of their own convert inputs from flat codes (quantised values) to d32, and
outputs back. Kernels share one scratch memory.

Left out: concats whose producers write in place (their inputs rarely have the same encoding), and
scratch that grows for a very large layer.

Sources (documented): Hexagon NN, hexagon/src/newnode.c (sizes), allocate.c (guards), nn_graph.h
(scratch). That SNPE's own build does the same is inferred.

The runtimes of CPU, GPU, tensor engine and tensor processor are unpublished. Tensors of CPU and GPU
have no padding. The tensor engine has its own layout; tensors that its compiler keeps on chip
(`hexsim.hta.compiler`) are not in the arena. Weights are not packed. On the tensor processor both
are in its tiles, and half of VTCM holds activations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

from hexsim.datasheets.chips import Hta, Htp
from hexsim.graph.batches import as_nhwc
from hexsim.graph.ir import Network, Shape
from hexsim.hta.compiler import resident_on_chip
from hexsim.hta.layout import tensor_bytes
from hexsim.htp.compiler import RESIDENT_SHARE
from hexsim.htp.cost import weight_bytes
from hexsim.htp.layout import stored_bytes
from hexsim.hvx.layout import (
    DEPTH_SLICE,
    PIXELS,
    VECTOR_BYTES,
    ceil_div,
    code_bytes,
    flat_tensors,
    is_spatial,
)
from hexsim.memory.graph import ArenaNode, SubnetGraph, arrange, input_node, layer_nodes
from hexsim.planning.kernel_forms import laid_down
from hexsim.planning.plan import PlannedSubnet
from hexsim.records import dataclass

if TYPE_CHECKING:
    from hexsim.hvx.kernels import Target

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
    from hexsim.hvx.kernels import memory_of  # not for a network without the DSP

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
        packed=tuple(memory_of(call, target).packed_bytes for call in subnet.calls),
        on_chip=tuple(memory_of(call, target).vtcm_bytes for call in subnet.calls),
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


def on_host(subnet: PlannedSubnet) -> SubnetGraph:
    """Return the graph of a subnet on CPU or GPU."""

    def size(name: str, shape: Shape) -> int:
        return math.prod(shape) * subnet.bits[name] // 8

    none = (0,) * len(subnet.calls)
    return SubnetGraph(
        subnet,
        before=(input_node(subnet, size),),
        layers=layer_nodes(subnet, size),
        after=(ArenaNode(subnet.outputs, ()),),
        packed=none,
        on_chip=none,
    )


def on_hta(subnet: PlannedSubnet, hta: Hta) -> SubnetGraph:
    """Return the graph of a subnet on the tensor engine."""
    subnet = laid_down(subnet)
    resident = resident_on_chip(subnet, hta.kept_bytes)
    return _with_resident_tensors(subnet, resident, tensor_bytes, (0,) * len(subnet.calls))


def on_htp(subnet: PlannedSubnet, network: Network, htp: Htp) -> SubnetGraph:
    """Return the graph of a subnet on the tensor processor; its weights are packed into tiles.

    States stay in the buffers of the application, from which DMA fetches them.
    """
    resident = resident_on_chip(subnet, int(htp.vtcm_bytes * RESIDENT_SHARE), stored_bytes)
    counted: set[tuple[str, ...]] = set()
    packed = []
    for call in subnet.calls:  # operations that share weights read the same tiles
        names = call.layer.parameters[:1]
        packed.append(0 if names and names in counted else round(weight_bytes(call)))
        counted.add(names)
    return _with_resident_tensors(
        subnet, resident, stored_bytes, tuple(packed), elsewhere=frozenset(network.states)
    )


def _with_resident_tensors(
    subnet: PlannedSubnet,
    resident: frozenset[str],
    size_of: Callable[[Shape, int], int],
    packed: tuple[int, ...],
    elsewhere: frozenset[str] = frozenset(),
) -> SubnetGraph:
    """Return a graph whose `resident` tensors are on chip, and not in its arena.

    Inputs in `elsewhere` are in no memory of the graph.
    """

    def size(name: str, shape: Shape) -> int:
        return 0 if name in elsewhere else size_of(shape, subnet.bits[name])

    makes = layer_nodes(subnet, size)
    on_chip = (
        ArenaNode(node.reads, tuple((name, size) for name, size in node.makes if name in resident))
        for node in makes
    )
    return SubnetGraph(
        subnet,
        before=(input_node(subnet, size),),
        layers=layer_nodes(subnet, size, elsewhere=resident),
        after=(ArenaNode(subnet.outputs, ()),),
        packed=packed,
        on_chip=arrange(list(on_chip)).live,
    )
