"""The memory of an inference: by layer, and the total that is allocated while it runs."""

from dataclasses import dataclass

from hexsim.datasheets.estimate import Estimate
from hexsim.errors import HexsimError
from hexsim.runtimes import Engine
from hexsim.texts.figures import figure

ADDRESSED_BYTES = 2**32
"""Bytes that a process of the tensor processor addresses: registers and virtual addresses of
Hexagon have 32 bits (its programmer's reference manuals and LLVM's Hexagon target; documented)."""


@dataclass(frozen=True)
class LayerMemory:
    """Memory of one layer, in bytes.

    `weight_bytes` are its weights and constant operands as the model stores them, `packed_bytes`
    the copy that its kernel makes of them at load (0: none). `live_bytes` are all activations in
    the arena while it runs, including those needed later, with padding. `on_chip_bytes` are its
    weights in VTCM, on the tensor engine the activations in the engine's local memory.
    """

    name: str
    type: str
    engine: Engine
    weight_bytes: int
    packed_bytes: int
    live_bytes: int
    on_chip_bytes: int


@dataclass(frozen=True)
class Footprint:
    """Memory of one inference, in bytes; `layers` in the order in which they run.

    `weight_bytes` and `packed_bytes` are of all layers; shared weights are counted once. A graph of
    the tensor processor has its weights in tiles only, in `packed_bytes`. `activation_bytes` are
    the arenas of all subnets, `scratch_bytes` memory that kernels share for intermediate results,
    that of the subnet which has most, because one runs at a time.
    `handed_bytes` are buffers of tensors between the CPU and the DSP, `application_bytes` the
    application's inputs and outputs. `addressed_bytes` are the weights and activations that the
    process of a tensor processor addresses, and `runtime` what this process takes beside the
    network, None for other runtimes, of which it is not known.
    """

    layers: tuple[LayerMemory, ...]
    weight_bytes: int
    packed_bytes: int
    activation_bytes: int
    scratch_bytes: int
    handed_bytes: int
    application_bytes: int
    addressed_bytes: int = 0
    runtime: Estimate | None = None

    def require_addressable(self, name: str) -> None:
        """Raise HexsimError if a process of the tensor processor cannot hold the network."""
        if self.addressed_bytes > ADDRESSED_BYTES:
            raise HexsimError(
                f"the weights and activations of '{name}' take "
                f"{figure(self.addressed_bytes / 1e9)} GB, and a process of the tensor processor "
                f"addresses {figure(ADDRESSED_BYTES / 1e9)} GB; use narrower weights, or "
                "split the network"
            )

    @property
    def process(self) -> Estimate | None:
        """The peak with the memory of the runtime; None if that is not known."""
        return None if self.runtime is None else self.runtime + self.peak_bytes

    @property
    def peak_bytes(self) -> int:
        """The total of the network, a peak because all of it is allocated at initialisation."""
        return (
            self.weight_bytes
            + self.packed_bytes
            + self.activation_bytes
            + self.scratch_bytes
            + self.handed_bytes
            + self.application_bytes
        )

    @property
    def largest(self) -> LayerMemory | None:
        """The first layer with the most live activations; None without layers."""
        return max(self.layers, key=lambda layer: layer.live_bytes, default=None)

    @property
    def live_bytes(self) -> int:
        """The largest `live_bytes` of a layer."""
        return self.largest.live_bytes if self.largest else 0

    @property
    def on_chip_bytes(self) -> int:
        """The largest `on_chip_bytes` of a layer."""
        return max((layer.on_chip_bytes for layer in self.layers), default=0)
