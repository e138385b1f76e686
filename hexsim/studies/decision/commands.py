"""Commands that give the figures of a candidate again: its file, its time, its accuracy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hexsim.studies.decision.candidates import DecisionCandidate


@dataclass(frozen=True)
class Wording:
    """The words of a question as other commands take them too.

    `dims` are those about shapes of inputs, `calibration` those about the inputs of the quantiser,
    `inputs` those about the inputs compared with their labels, `platform` those about stack and
    cores, `calling` those about profile and idle time.
    """

    model: str
    dims: tuple[str, ...] = ()
    calibration: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    platform: tuple[str, ...] = ()
    calling: tuple[str, ...] = ()


def commands(one: DecisionCandidate, wording: Wording) -> tuple[str, ...]:
    """Return the commands, a line of a shell each, in the order to run them.

    They write files named after the model into the folder they are run in.
    """
    return tuple(_lines(one, wording))


def _lines(one: DecisionCandidate, wording: Wording) -> Iterator[str]:
    where = ("--chip", one.chip, *wording.platform, "--runtime", one.runtime)
    if not one.mode.quantizes:
        model = (wording.model, *where, *wording.dims)
        yield _line("profile", *model, *wording.calling)
        yield _line("validate", *model, *wording.inputs)
        return
    stem = f"{Path(wording.model).stem}_decided"
    source, chosen = wording.model, f"{stem}.dlc"
    if one.mode.floats:
        overrides = f"{stem}_overrides.json"
        yield f"echo {shlex.quote(one.mode.encodings_file)} > {shlex.quote(overrides)}"
        yield _line(
            *("convert", source, *wording.dims, "--quantization-overrides", overrides),
            *("--output", f"{stem}_float.dlc"),
        )
        source = f"{stem}_float.dlc"
    elif wording.dims:
        yield _line("convert", source, *wording.dims, "--output", f"{stem}_float.dlc")
        source = f"{stem}_float.dlc"
    made = (*wording.calibration, *one.mode.words, *_sections(one, wording))
    yield _line("quantize", source, *made, "--output", chosen)
    yield _line("profile", chosen, *where, *wording.calling)
    yield _line(
        "validate", chosen, "--float", wording.model, *where, *wording.dims, *wording.inputs
    )


def _sections(one: DecisionCandidate, wording: Wording) -> tuple[str, ...]:
    """What compiles the HTA sections of a candidate."""
    if one.timed.cut not in ("automatic", "fastest"):
        return ()
    stack = [word for word in wording.platform if word != "--ideal-cpu"]
    listed = ("--hta-partitions", one.timed.sections) if one.timed.cut == "fastest" else ()
    return ("--enable-hta", "--chip", one.chip, *stack, *listed)


def _line(*words: str) -> str:
    return shlex.join(("hexsim", *words))
