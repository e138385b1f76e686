"""Modes: the ways to quantise a float network for a runtime, remedies included; the question.

`hexsim quantize` with the `words` of a mode does the same. The plainest modes come first, which
breaks ties. Remedies for different problems are also tried together.

The last modes keep those layers float that add most noise to the most accurate 8-bit mode. They
are built for each network, since the names of these layers are known only then.

Also the commands that reproduce a choice, and the ranking of choices within the limits. The
preferred figure is rounded to two digits, since the constants behind a time are not more
certain; a time with an interval counts with its middle. Ties are decided by accuracy, then time,
then the plainer mode. Accuracy is not rounded. Outputs that are mostly noise come last.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from hexsim.accuracy.classes import Classes
from hexsim.deployment.platform import Platform
from hexsim.dlc import Container
from hexsim.errors import HexsimError, spelled, unknown
from hexsim.inputs.input_sets import Pictures
from hexsim.inputs.source import InputRoles, InputSource
from hexsim.quantization.encodings import FloatBits
from hexsim.quantization.optimizations import Optimization
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import FloatOverride, Overrides
from hexsim.records import dataclass, field
from hexsim.results.decision import Choice, Limits, Preference
from hexsim.runtimes import RUNTIMES, Runtime
from hexsim.texts.figures import figure

FLOAT_BITS: FloatBits = 32
"""Width of the layers that stay float."""


@dataclass(frozen=True)
class CommandOptions:
    """The options of `hexsim decide` that other commands take as well.

    `dims` are the options for input shapes, `calibration` for the quantiser's inputs, `inputs` for
    the inputs compared and their labels, `platform` for stack and cores, `calling` for profile and
    idle time.
    """

    model: str
    dims: tuple[str, ...] = ()
    calibration: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    platform: tuple[str, ...] = ()
    calling: tuple[str, ...] = ()


def commands(choice: Choice, given_options: CommandOptions) -> tuple[str, ...]:
    """Return the commands, one shell line each, in the order to run them.

    They write files named after the model into the current folder.
    """
    return tuple(_lines(choice, given_options))


def _lines(choice: Choice, given_options: CommandOptions) -> Iterator[str]:
    where = ("--chip", choice.chip, *given_options.platform, "--runtime", choice.runtime)
    if choice.mode == "float":
        model = (given_options.model, *where, *given_options.dims)
        yield _line("profile", *model, *given_options.calling)
        yield _line("validate", *model, *given_options.inputs)
        return
    stem = f"{Path(given_options.model).stem}_decided"
    source, output = given_options.model, f"{stem}.dlc"
    if choice.float_tensors:
        overrides = f"{stem}_overrides.json"
        yield f"echo {shlex.quote(encodings_file(choice.float_tensors))} > {shlex.quote(overrides)}"
        yield _line(
            *("convert", source, *given_options.dims, "--quantization-overrides", overrides),
            *("--output", f"{stem}_float.dlc"),
        )
        source = f"{stem}_float.dlc"
    elif given_options.dims:
        yield _line("convert", source, *given_options.dims, "--output", f"{stem}_float.dlc")
        source = f"{stem}_float.dlc"
    options = (
        *given_options.calibration,
        *choice.quantizer_words,
        *_sections(choice, given_options),
    )
    yield _line("quantize", source, *options, "--output", output)
    yield _line("profile", output, *where, *given_options.calling)
    yield _line(
        "validate",
        output,
        "--float",
        given_options.model,
        *where,
        *given_options.dims,
        *given_options.inputs,
    )


def _sections(choice: Choice, given_options: CommandOptions) -> tuple[str, ...]:
    if choice.cut not in ("automatic", "fastest"):
        return ()
    stack = [word for word in given_options.platform if word != "--ideal-cpu"]
    listed = ("--hta-partitions", choice.hta_partitions) if choice.cut == "fastest" else ()
    return ("--enable-hta", "--chip", choice.chip, *stack, *listed)


def words(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words of options that are set: by their names, with `_` for `-`."""
    return tuple(_words(settings))


def _words(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif value is not None and value is not False:
            for element in value if isinstance(value, list | tuple) else [value]:
                yield from (option, str(element))


def encodings_file(floats: Sequence[str]) -> str:
    """Return overrides that keep tensors float, as `convert --quantization-overrides` reads them.

    `floats` are the output tensors of layers.
    """
    entry = [{"bitwidth": FLOAT_BITS, "dtype": "float"}]
    return json.dumps(
        {
            "version": "0.5.0",
            "activation_encodings": dict.fromkeys(floats, entry),
            "param_encodings": {},
        }
    )


def _line(*words: str) -> str:
    return shlex.join(("hexsim", *words))


def options_of(model: str, how: Mapping[str, Any], inputs: InputRoles) -> CommandOptions | None:
    """Return the options for the settings of `hexsim.decide`; None if arrays are in memory."""
    named = {name: how.get(name) for name in ("inputs", "calibration", "labels")}
    kinds = str | Path | Pictures
    if not all(value is None or isinstance(value, kinds) for value in named.values()):
        return None
    judging = (*_listed(named["inputs"]), *words({"part": how.get("part")}))
    compared = (*judging, *words({"labels": named["labels"]}))
    if named["calibration"] is not None:
        calibration = _listed(named["calibration"])
    elif judging and inputs.calibrating not in (None, inputs.judging):
        calibration, compared = (*judging, "--part", "calibrate"), (*compared, "--part", "judge")
    else:
        calibration = judging or ("--seeded-inputs",)
    dims = [
        f"{name} {','.join(map(str, shape))}" for name, shape in how.get("input_dims", {}).items()
    ]
    calling: dict[str, Any] = {
        "anchor": how.get("anchor"),
        "vtcm": how.get("vtcm_mb"),
        "perf_profile": how.get("perf_profile"),
        "idle_ms": how.get("idle_ms") or None,
        "no_power_collapse": not how.get("power_collapse", True),
    }
    return CommandOptions(
        model,
        dims=words({"input_dim": dims}),
        calibration=calibration,
        inputs=compared,
        platform=words({"stack": how.get("stack"), "ideal_cpu": how.get("ideal_cpu", False)}),
        calling=words(calling),
    )


def _listed(inputs: Any) -> tuple[str, ...]:
    """Return the options for an input list, or for pictures and what makes inputs of them."""
    if not isinstance(inputs, Pictures):
        is_folder = inputs is not None and Path(inputs).is_dir()
        return words({"images" if is_folder else "input_list": inputs})
    steps = {
        name: ",".join(f"{number:g}" for number in value) if isinstance(value, tuple) else value
        for name, value in inputs.steps.items()
    }
    return words({"images": inputs.folder, **steps})


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
    # With 8 bits the steps of a bias are larger than those of outputs of 16.
    Mode(
        "axis+bias32+act16",
        (*_AXIS, *_BIAS, *_WIDE),
        QuantizationOptions(axis_weights=True, bias_bits=32, activation_bits=16),
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


_RULES: dict[Preference, str] = {
    "latency": "latency (the middle of its interval, or as one of the same kind of engine says) to "
    "two digits, then accuracy, then latency, then the plainer mode",
    "accuracy": "accuracy, then latency, then the plainer mode",
    "memory": "peak memory to two digits, then accuracy, then latency, then the plainer mode",
    "energy": "energy to two digits, then accuracy, then latency, then the plainer mode",
}


def rule(preference: Preference) -> str:
    """Return the ranking rule in words."""
    return _RULES[preference]


def ranked(choices: Sequence[Choice], preference: Preference) -> tuple[Choice, ...]:
    """Return the choices with their ranks, best first, and whether none beats them (`in_front`)."""
    figures = [_figures(choice) for choice in choices]
    marked = [
        replace(choice, in_front=not any(_beats(rival, mine) for rival in figures))
        for choice, mine in zip(choices, figures, strict=True)
    ]
    best_first = sorted(marked, key=lambda choice: _key(choice, preference))
    return tuple(replace(choice, rank=rank) for rank, choice in enumerate(best_first, start=1))


@dataclass(frozen=True)
class Beyond:
    """A figure of a choice that is beyond a limit: its value, the same in words, and the limit."""

    value: float
    figure: str
    limit: str

    @classmethod
    def over(cls, value: float | None, words: str, name: str, limit: float | None) -> Self | None:
        """Return `value` as `words` tell it if it is over the limit `name`, else None."""
        if value is None or limit is None or value <= limit:
            return None
        return cls(value, words.format(figure(value)), f"over {spelled(name)} {limit:g}")

    def __str__(self) -> str:
        return f"{self.figure}, {self.limit}"


def cost_beyond(limits: Limits, choice: Choice) -> Beyond | None:
    """Return what costs too much of a choice, or None; its answers need not be known."""
    return (
        Beyond.over(choice.ms, "{} ms", "max_ms", limits.max_ms)
        or Beyond.over(choice.peak_mib, "{} MiB at its peak", "max_mb", limits.max_mb)
        or Beyond.over(choice.energy_mj, "{} mJ", "max_mj", limits.max_mj)
    )


def worth_beyond(limits: Limits, choice: Choice) -> Beyond | None:
    """Return why the answers of a choice are not good enough, or None."""
    loss, least, sqnr_db = choice.loss_points, limits.min_db, choice.sqnr_db
    if (lost := Beyond.over(loss, "loses {} points", "max_loss", limits.max_loss)) is not None:
        return lost
    if least is None or sqnr_db is None or sqnr_db >= least:
        return None
    return Beyond(sqnr_db, f"{figure(sqnr_db)} dB", f"under {spelled('min_db')} {least:g}")


def two_digits(value: float) -> float:
    """Return `value` rounded to two digits."""
    return float(f"{value:.1e}")


def _key(choice: Choice, preference: Preference) -> tuple[object, ...]:
    first = {
        "latency": (two_digits(choice.expected_us),),
        "accuracy": (),
        "memory": (two_digits(choice.peak_bytes),),
        "energy": (two_digits(choice.energy_mj),),
    }[preference]
    figures = (*_inaccuracy(choice), choice.expected_us)
    return (choice.is_noise, *first, *figures, choice.order, *_place(choice))


def _place(choice: Choice) -> tuple[object, ...]:
    """Return the last sort key: names, and dsp before aip, which equals dsp without sections."""
    return choice.chip, RUNTIMES.index(choice.runtime), choice.cut


def _inaccuracy(choice: Choice) -> tuple[float, float]:
    """Return points lost, where there are classes, and noise; smaller is better."""
    sqnr_db = math.inf if choice.sqnr_db is None else choice.sqnr_db
    return (choice.loss_points or 0.0, -sqnr_db)


def _figures(choice: Choice) -> tuple[float, ...]:
    costs = (choice.total_inference_us, choice.peak_bytes, choice.energy_mj)
    return (*costs, *_inaccuracy(choice))


def _beats(rival: Sequence[float], mine: Sequence[float]) -> bool:
    """Return True if `rival` is worse in no figure, and better in one or more."""
    pairs = list(zip(rival, mine, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
