"""Compiles the kernel calls of a subnet into a command list for the tensor engine.

Rules
1. Half of the local memory keeps activations between layers (`residency`); others go through DDR.
2. Layers with weights are cut into tiles (`tiling`); weights are fetched from DDR every time.
3. Other layers stream through the stage after the array, a buffer at a time. A reshape of a
   tensor that stays on chip needs no command.
4. A fetch of activations waits until the layer that wrote them has written them back.

Source: the SNPE guide says that the compiler runs when the network is quantised and that it
takes maximal subnets; how it tiles is not published.

The compiler knows all lifetimes, so it places tensors ahead of time: in the order in which they
are written, each stays if it fits beside those already placed for its whole lifetime. Inputs and
outputs of the subnet are in DDR.
"""

import math
from collections.abc import Callable, Mapping

from hexsim.datasheets.chips import Hta
from hexsim.graph.ir import Shape
from hexsim.hta.array import MacArray, MacShape
from hexsim.hta.command_list import Command, CommandList, LayerCommands
from hexsim.hta.layout import tensor_bytes
from hexsim.hta.tiling import TileLimits, tiles
from hexsim.layers import Pooling, Reshape, Resize, Softmax
from hexsim.planning.kernel_forms import laid_down
from hexsim.planning.plan import KernelCall, PlannedSubnet
from hexsim.records import dataclass


def resident_on_chip(
    subnet: PlannedSubnet, capacity: int, size_of: Callable[[Shape, int], int] = tensor_bytes
) -> frozenset[str]:
    """Return the tensors that are never in DDR.

    `capacity` is in bytes; `size_of` returns the bytes of a shape at a number of bits.
    """
    last_use = {name: at for at, layer in enumerate(subnet.layers) for name in layer.inputs}
    used = [0] * len(subnet.calls)
    resident = set()
    for at, call in enumerate(subnet.calls):
        for name, shape in zip(call.layer.outputs, call.results, strict=True):
            if name in subnet.outputs or name not in last_use:
                continue
            size = size_of(shape, call.activation_bits)
            life = range(at, last_use[name] + 1)
            if all(used[step] + size <= capacity for step in life):
                resident.add(name)
                for step in life:
                    used[step] += size
    return frozenset(resident)


_BUFFERS = 2
"""Tiles on chip at a time: one is computed while the other is fetched (assumed)."""
_BILINEAR_TAPS, _SOFTMAX_PASSES = 4, 4
"""Pixels of a bilinear result; maximum, exponential, sum and division (by definition)."""


@dataclass(frozen=True)
class _Memory:
    """The place of each tensor: resident on chip, or in DDR after the layer that writes it."""

    resident: frozenset[str]
    writers: Mapping[str, int]

    def is_resident(self, names: tuple[str, ...]) -> bool:
        """Tell whether all tensors stay on chip."""
        return self.resident.issuperset(names)

    def barrier(self, names: tuple[str, ...]) -> int:
        """Return the last layer that writes one of the tensors to DDR, -1 if none does."""
        return max((self.writers.get(n, -1) for n in names if n not in self.resident), default=-1)


def compile_subnet(subnet: PlannedSubnet, chip: str, hta: Hta) -> CommandList:
    """Return the command list of `subnet` for the engine `hta` of `chip`.

    Height and width of images one pixel wide are exchanged first, as for HVX, because the measured
    times do not depend on the orientation of such images.
    """
    subnet = laid_down(subnet)
    kept_bytes = hta.kept_bytes
    memory = _Memory(
        resident_on_chip(subnet, kept_bytes),
        {name: at for at, layer in enumerate(subnet.layers) for name in layer.outputs},
    )
    array, buffer_bytes = MacArray.of(hta), (hta.local_bytes - kept_bytes) // _BUFFERS
    return CommandList(
        chip, tuple(_layer(call, memory, array, hta, buffer_bytes) for call in subnet.calls)
    )


def _layer(
    call: KernelCall, memory: _Memory, array: MacArray, hta: Hta, buffer_bytes: int
) -> LayerCommands:
    layer = call.layer
    source_bytes = tensor_bytes(call.operands[0], call.input_bits)
    shape = MacShape.of(call, source_bytes)
    barrier = memory.barrier(layer.inputs)
    if shape is None:
        commands = _streamed(call, memory, array, buffer_bytes, barrier)
        return LayerCommands(layer.name, commands, 0)
    room = TileLimits(
        buffer_bytes=buffer_bytes,
        kept_bytes=hta.kept_bytes,
        refetch_bytes_per_clk=hta.refetch_bytes_per_clk,
        dma_bytes_per_clk=hta.ddr_port_bytes_per_clk,
        command_clocks=hta.command_clk,
        input_held=memory.is_resident(layer.inputs),
        output_held=memory.is_resident(layer.outputs),
    )
    plan = tiles(shape, array, room)
    commands = tuple(
        Command(
            tile.read_bytes, tile.clocks, tile.write_bytes, barrier if tile.activation_bytes else -1
        )
        for tile in plan
    )
    return LayerCommands(layer.name, commands, sum(tile.array_clocks for tile in plan))


def _streamed(
    call: KernelCall, memory: _Memory, array: MacArray, buffer_bytes: int, barrier: int
) -> tuple[Command, ...]:
    """Cut a layer without weights into pieces of one buffer."""
    reads = sum(
        tensor_bytes(shape, call.input_bits)
        for name, shape in zip(call.layer.inputs, call.operands, strict=True)
        if name not in memory.resident
    )
    writes = 0 if memory.is_resident(call.layer.outputs) else _stored_results(call)
    if isinstance(call.layer, Reshape) and not reads and not writes:
        return ()
    clocks = array.stage_clocks(_staged_bytes(call))
    pieces = max(1, math.ceil((reads + writes) / buffer_bytes))
    return tuple(
        Command(
            _share(reads, at, pieces), _share(clocks, at, pieces), _share(writes, at, pieces),
            barrier if reads else -1,
        )
        for at in range(pieces)
    )  # fmt: skip


def _staged_bytes(call: KernelCall) -> int:
    """Return the bytes that the stage after the array reads and writes.

    Pooling and bilinear resizing read each tap; softmax makes several passes.
    """
    layer, results = call.layer, _stored_results(call)
    if isinstance(layer, Pooling):
        return results * (layer.window.taps + 1)
    if isinstance(layer, Resize) and layer.kind == "bilinear":
        return results * (_BILINEAR_TAPS + 1)
    passes = _SOFTMAX_PASSES if isinstance(layer, Softmax) else 1
    operands = sum(tensor_bytes(shape, call.input_bits) for shape in call.operands)
    return passes * (operands + results)


def _stored_results(call: KernelCall) -> int:
    return sum(tensor_bytes(shape, call.activation_bits) for shape in call.results)


def _share(total: int, part: int, parts: int) -> int:
    """Return integer share `part` of `total`; all shares add up to it."""
    return total * (part + 1) // parts - total * part // parts
