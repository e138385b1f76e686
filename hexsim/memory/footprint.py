"""The memory of an inference: by layer, and the total that is allocated while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from hexsim.runtimes import Engine


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

    `weight_bytes` and `packed_bytes` are of all layers; shared weights are counted once.
    `activation_bytes` are the arenas of all subnets, `scratch_bytes` memory that kernels share for
    intermediate results. `handed_bytes` are buffers of tensors between the CPU and the DSP,
    `application_bytes` the application's inputs and outputs.
    """

    layers: tuple[LayerMemory, ...]
    weight_bytes: int
    packed_bytes: int
    activation_bytes: int
    scratch_bytes: int
    handed_bytes: int
    application_bytes: int

    @property
    def peak_bytes(self) -> int:
        """The total, which is the peak because all of it is allocated at initialisation."""
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
