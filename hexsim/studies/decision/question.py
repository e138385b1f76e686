"""The question: a network, its inputs, platforms and modes to choose from, and limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hexsim.accuracy.labels import Classes
from hexsim.deployment.platform import Platform
from hexsim.dlc import Container
from hexsim.inputs.source import InputSource
from hexsim.runtimes import Runtime
from hexsim.studies.decision.limits import Limits
from hexsim.studies.decision.modes import MODES, Mode
from hexsim.studies.decision.ranking import Preference


@dataclass(frozen=True)
class Question:
    """A question. `source` is the float model as the user names it, `read` its content.

    Answers are compared on `inputs`, and quantisers calibrated on `calibration` (None:
    nothing is quantised). `runtimes` None means all. `mixed` also tries
    to keep the layers float that add most noise. Constants are drawn `draws` times for the best.
    """

    source: str
    read: Container
    inputs: InputSource
    calibration: InputSource | None
    platforms: Sequence[Platform]
    labels: tuple[Classes, ...] | None = None
    runtimes: Sequence[Runtime] | None = None
    modes: tuple[Mode, ...] = MODES
    mixed: bool = True
    limits: Limits = field(default_factory=Limits)
    prefer: Preference = "latency"
    perf_profile: str | None = None
    idle_ms: float = 0.0
    cpu_fallback: bool = True
    draws: int = 0
    input_dims: Mapping[str, Sequence[int]] = field(default_factory=dict)
