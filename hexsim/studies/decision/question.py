"""The question: what is to be decided about a network, on which inputs, within which limits."""

from __future__ import annotations

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
    """What is asked. `source` is the float model as its user names it, `read` what that holds.

    Answers are compared on `inputs`, quantisers calibrated on `calibration` (None: the same ones;
    where they are seeded, on other seeded ones). `runtimes` None asks for all. With `mixed` layers
    that hurt are tried float. Constants are drawn `draws` times for those at the head.
    """

    source: str
    read: Container
    inputs: InputSource
    platforms: Sequence[Platform]
    calibration: InputSource | None = None
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
