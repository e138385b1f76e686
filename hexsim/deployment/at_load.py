"""Quantise a float model as a runtime does when it loads it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from hexsim.deployment.platform import Platform
from hexsim.graph.ir import FloatArray, Network
from hexsim.inputs.seeded import seeded_calibration
from hexsim.quantization.model import Model
from hexsim.quantization.overrides import NO_OVERRIDES, Overrides

Calibration = Callable[[], Iterable[Mapping[str, FloatArray]]]
"""Returns the inputs to calibrate on, arrays in stored order."""


@dataclass(frozen=True)
class AtLoad:
    """A float network as the runtimes of a platform quantise it at load.

    It is quantised once, when first needed, even if several runtimes share this object.
    `calibration` None means seeded inputs; with `times_only` nothing is calibrated. With
    `required`, a runtime that does not quantise refuses overrides; otherwise it ignores them.
    """

    network: Network
    platform: Platform
    calibration: Calibration | None = None
    overrides: Overrides = NO_OVERRIDES
    required: bool = True
    times_only: bool = False

    @cached_property
    def model(self) -> Model:
        """The quantised model; errors as in the quantiser."""
        calibration = self.calibration or partial(seeded_calibration, self.network)
        feeds = None if self.times_only else calibration()
        return self.platform.quantize(self.network, feeds, self.overrides)
