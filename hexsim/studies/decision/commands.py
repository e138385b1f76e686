"""Commands that reproduce a candidate: its file, its time and its accuracy."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hexsim.studies.decision.candidates import DecisionCandidate


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


def commands(candidate: DecisionCandidate, given_options: CommandOptions) -> tuple[str, ...]:
    """Return the commands, one shell line each, in the order to run them.

    They write files named after the model into the current folder.
    """
    return tuple(_lines(candidate, given_options))


def _lines(candidate: DecisionCandidate, given_options: CommandOptions) -> Iterator[str]:
    where = ("--chip", candidate.chip, *given_options.platform, "--runtime", candidate.runtime)
    if not candidate.mode.quantizes:
        model = (given_options.model, *where, *given_options.dims)
        yield _line("profile", *model, *given_options.calling)
        yield _line("validate", *model, *given_options.inputs)
        return
    stem = f"{Path(given_options.model).stem}_decided"
    source, output = given_options.model, f"{stem}.dlc"
    if candidate.mode.floats:
        overrides = f"{stem}_overrides.json"
        yield f"echo {shlex.quote(candidate.mode.encodings_file)} > {shlex.quote(overrides)}"
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
        *candidate.mode.words,
        *_sections(candidate, given_options),
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


def _sections(candidate: DecisionCandidate, given_options: CommandOptions) -> tuple[str, ...]:
    if candidate.timed.cut not in ("automatic", "fastest"):
        return ()
    stack = [word for word in given_options.platform if word != "--ideal-cpu"]
    listed = (
        ("--hta-partitions", candidate.timed.sections) if candidate.timed.cut == "fastest" else ()
    )
    return ("--enable-hta", "--chip", candidate.chip, *stack, *listed)


def _line(*words: str) -> str:
    return shlex.join(("hexsim", *words))
