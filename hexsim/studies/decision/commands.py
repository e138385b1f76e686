"""Commands that reproduce a choice: its file, its time and its accuracy."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hexsim.inputs.split import InputRoles
from hexsim.quantization.encodings import FloatBits
from hexsim.results.decision import Choice

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
    if not all(value is None or isinstance(value, str | Path) for value in named.values()):
        return None
    judging, calibrating = (_listed(named[name]) for name in ("inputs", "calibration"))
    compared = (*judging, *words({"labels": named["labels"]}))
    if calibrating:
        calibration = calibrating
    elif judging and inputs.calibrating not in (None, inputs.judging):
        calibration, compared = (*judging, "--part", "calibrate"), (*compared, "--part", "judge")
    else:
        calibration = judging or ("--seeded-inputs",)
    dims = [
        f"{name} {','.join(map(str, shape))}" for name, shape in how.get("input_dims", {}).items()
    ]
    calling: dict[str, Any] = {
        "perf_profile": how.get("perf_profile"),
        "idle_ms": how.get("idle_ms") or None,
        "no_power_collapse": not how.get("power_collapse", True),
        "anchor": how.get("anchor"),
        "vtcm": how.get("vtcm_mb"),
    }
    return CommandOptions(
        model,
        dims=words({"input_dim": dims}),
        calibration=calibration,
        inputs=compared,
        platform=words({"stack": how.get("stack"), "ideal_cpu": how.get("ideal_cpu", False)}),
        calling=words(calling),
    )


def _listed(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return ("--images" if Path(value).is_dir() else "--input-list", str(value))
