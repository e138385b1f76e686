"""Modes: the ways to quantise a float network for a runtime, remedies included; the question.

`hexsim quantize` with the `words` of a mode does the same. The plainest modes come first, which
breaks ties. Remedies for different problems are also tried together.

The last modes keep those layers float that add most noise to the most accurate 8-bit mode. They
are built for each network, since the names of these layers are known only then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hexsim.accuracy.classes import Classes
from hexsim.deployment.platform import Platform
from hexsim.dlc import Container
from hexsim.errors import HexsimError, spelled, unknown
from hexsim.inputs.source import InputSource
from hexsim.quantization.optimizations import Optimization
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, Overrides
from hexsim.results.decision import Limits, Preference
from hexsim.runtimes import Runtime
from hexsim.studies.decision.commands import FLOAT_BITS, CommandOptions


@dataclass(frozen=True)
class Mode:
    """One way to quantise; `words` are the options of `hexsim quantize` for it.

    `floats` are the output tensors of the layers that stay float. Without `quantizes` the float
    file is used as it is.
    """

    name: str
    words: tuple[str, ...] = ()
    options: QuantizationOptions = field(default_factory=QuantizationOptions)
    optimizations: tuple[Optimization, ...] = ()
    floats: tuple[str, ...] = ()
    quantizes: bool = True

    def keeping(self, name: str, tensors: Sequence[str]) -> Mode:
        """Return the mode with the layers that write `tensors` kept float."""
        words = (*self.words, "--override-params")
        return Mode(name, words, self.options, self.optimizations, tuple(tensors))

    @property
    def overrides(self) -> Overrides:
        """The overrides that keep its layers float."""
        return Overrides({name: FloatOverride(FLOAT_BITS) for name in self.floats})


_AXIS, _BIAS, _WIDE = ("--axis-quant",), ("--bias-bitwidth", "32"), ("--act-bitwidth", "16")
MIXED = "mixed"
"""Name of all modes that keep layers float."""
MIXED_LAYERS = (1, 3)
"""Numbers of float layers to try; each such layer costs a conversion at both ends."""

MODES: tuple[Mode, ...] = (
    Mode("float", quantizes=False),
    Mode("default"),
    Mode("enhanced", ("--use-enhanced-quantizer", "both"), QuantizationOptions(enhanced="both")),
    Mode("bias32", _BIAS, QuantizationOptions(bias_bits=32)),
    Mode("axis", _AXIS, QuantizationOptions(axis_weights=True)),
    Mode("axis+bias32", (*_AXIS, *_BIAS), QuantizationOptions(axis_weights=True, bias_bits=32)),
    Mode("cle", ("--optimizations", "cle"), optimizations=("cle",)),
    Mode("cle+bc", ("--optimizations", "cle,bc"), optimizations=("cle", "bc")),
    Mode("act16", _WIDE, QuantizationOptions(activation_bits=16)),
    Mode(
        "axis+act16", (*_AXIS, *_WIDE), QuantizationOptions(axis_weights=True, activation_bits=16)
    ),
)
"""All modes but those that keep layers float."""


@dataclass(frozen=True)
class Question:
    """A question. `source` is the float model as the user names it, `read` its content.

    Answers are compared on `inputs`, and quantisers calibrated on `calibration` (None: nothing is
    quantised). `runtimes` None means all. `mixed` also tries to keep the layers float that add most
    noise. Constants are drawn `draws` times for the best. `sensitivity` also ranks the layers of
    the best quantised choice. `options` are those of the commands that reproduce the answer.
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
    sensitivity: bool = False
    input_dims: Mapping[str, Sequence[int]] = field(default_factory=dict)
    options: CommandOptions | None = None


def parse_modes(modes: str | Sequence[str] | None) -> tuple[tuple[Mode, ...], bool]:
    """Read names, or a text of them separated by commas: the modes, and whether to try mixed ones.

    The plainest come first; None means all. Raises HexsimError for an unknown name, and for mixed
    without an 8-bit mode.
    """
    if modes is None:
        return MODES, True
    text = modes if isinstance(modes, str) else ",".join(modes)
    names = {name.strip().lower() for name in text.split(",")} - {""}
    known = [*(mode.name for mode in MODES), MIXED]
    for name in sorted(names):
        if name not in known:
            raise unknown("quantiser mode", name, known)
    chosen = tuple(mode for mode in MODES if mode.name in names)
    if not chosen or (MIXED in names and not any(is_eight_bit(mode) for mode in chosen)):
        raise HexsimError(
            f"{spelled('modes')} '{text}' names no 8-bit mode to begin with; known: "
            f"{', '.join(known)}"
        )
    return chosen, MIXED in names


def is_eight_bit(mode: Mode) -> bool:
    """Return True for modes whose activations are all 8-bit codes."""
    return mode.quantizes and mode.options.activation_bits == 8 and not mode.floats
