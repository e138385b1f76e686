"""Quantise a float model as a runtime does when it loads it.

The ranges of activations come from the inputs that are run: the real runtimes find them in each
inference. If the file has an encoding for each of its tensors, the network is coded: a quantised
one on every runtime that computes in codes (quantised values). It needs inputs only for tensors
inside an operator that is several layers here.

Left out: ranges that change with each inference. They are those of the first inputs of a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import islice

from hexsim.deployment.platform import Platform
from hexsim.graph.ir import FloatArray, Network
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides
from hexsim.records import dataclass, replace

Calibration = Callable[[], Iterable[Mapping[str, FloatArray]]]
"""Returns the inputs to calibrate on, arrays in stored order."""

MOST_INPUTS = 100
"""Inputs that calibrate, of those that are run; the SNPE guide recommends 50 to 100."""


@dataclass(frozen=True)
class AtLoad:
    """A float network as the runtimes of a platform quantise it at load.

    It is quantised once, when first needed, even if several runtimes share this object. Without a
    `calibration` its ranges are arbitrary, unless the `overrides` give all of them: it is for times
    only. A calibration `on_noise` says nothing of given ranges. With `required`, a runtime that
    does not quantise refuses overrides; otherwise it ignores them.
    """

    network: Network
    platform: Platform
    calibration: Calibration | None = None
    overrides: Overrides = NO_OVERRIDES
    required: bool = True
    on_noise: bool = False

    @cached_property
    def model(self) -> Model:
        """The quantised model; errors as in the quantiser."""
        if self.calibration is None or not self.needs_inputs:
            return self.without_inputs
        model = self.platform.quantize(self.network, self.calibration(), self.overrides)
        return without_noise(model) if self.on_noise else model

    def run_on(self, inputs: Calibration) -> AtLoad:
        """Return this network for a run on `inputs`, which calibrate it unless others do."""
        if self.calibration is not None:
            return self
        return replace(self, calibration=lambda: islice(inputs(), MOST_INPUTS))

    @property
    def coded(self) -> bool:
        """True if the overrides give all ranges, but those inside operators."""
        return bool(self.overrides) and not self.uncoded

    @property
    def uncoded(self) -> tuple[str, ...]:
        """The tensors of the file whose ranges inputs decide."""
        return tuple(name for name in self.uncalibrated if name not in self.overrides.inside)

    @property
    def missing(self) -> str:
        """Words for the tensors without an encoding, if the file gives those of others."""
        uncoded = self.uncoded if self.overrides else ()
        which = "tensor has" if len(uncoded) == 1 else "tensors have"
        return f", as {len(uncoded)} {which} no encoding ('{uncoded[0]}')," if uncoded else ""

    @property
    def uncalibrated(self) -> tuple[str, ...]:
        """The tensors whose ranges inputs decide."""
        return self.without_inputs.uncalibrated

    @property
    def needs_inputs(self) -> bool:
        """True if inputs decide ranges; without overrides this is known without any weight."""
        return not self.overrides or bool(self.uncalibrated)

    @cached_property
    def without_inputs(self) -> Model:
        """The quantised model, of which only bit widths and the ranges of overrides are right."""
        return self.platform.quantize(self.network, None, self.overrides)


def without_noise(model: Model) -> Model:
    """Return a model that was calibrated on noise, without what its values say of given ranges."""
    return replace(model, evidence=replace(model.evidence, unused_ranges=()))


def needs_inputs(model: Model, overrides: Overrides) -> bool:
    """Return whether inputs decide ranges if `model` is quantised with `overrides`."""
    from hexsim.quantization.quantizer import quantize

    if model.quantized or not overrides:
        return not model.quantized
    return bool(quantize(model.network, None, overrides=overrides).uncalibrated)


def is_coded(model: Model, platform: Platform) -> bool:
    """Return whether `model` is quantised, or has encodings that make it so."""
    at_load = AtLoad(model.network, platform, overrides=model.own_overrides)
    return model.quantized or at_load.coded
