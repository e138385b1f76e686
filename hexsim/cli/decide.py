"""`hexsim decide` chooses chip, runtime, quantiser mode and cut within limits, or a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hexsim.cli._files import CHIPS, separated
from hexsim.cli._inputs import LabelledInputs
from hexsim.cli._options import (
    FallbackOption,
    FloatModelOption,
    HtaOption,
    ModelArgument,
    OverrideParamsOption,
    ProfileOption,
    RuntimesOption,
)
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import log, say
from hexsim.cli._signature import Keywords, Reads, grouped, paged
from hexsim.cli._simulated import Power, Shapes, Software
from hexsim.errors import HexsimError, spelled
from hexsim.records import dataclass, fields
from hexsim.runtimes import DEFAULT_CHIP

EXAMPLES = {
    "decide": (
        "hexsim decide model.onnx --chips sd855,sd865 --max-ms 10",
        "hexsim decide quantised.dlc --files --float model.onnx --chips sd855",
    )
}


def _plain(text: str) -> str:
    return text.strip().lower()


@dataclass(frozen=True)
class Place(Shapes, Power, Software):
    """The chips to choose from, and how the model is called and read."""

    HEADING = "Chip and software"

    chips: Annotated[
        str | list[str],
        Reads(str, separated),
        "Names or TOML files of chips, comma separated.",
        CHIPS,
    ] = DEFAULT_CHIP
    runtime: RuntimesOption = None
    perf_profile: ProfileOption = None
    cpu_fallback: FallbackOption = True


@dataclass(frozen=True)
class Choice(Keywords):
    """The alternatives, the limits, and the preference."""

    modes: Annotated[
        str | None,
        "Quantiser modes, comma separated: float, default, enhanced, bias32, axis, "
        "axis+bias32, cle, cle+bc, act16, axis+bias32+act16, mixed; default: all.",
    ] = None
    max_ms: Annotated[
        float | None, typer.Option(min=0.0, help="Most time of an inference, in ms.")
    ] = None
    max_mb: Annotated[
        float | None, typer.Option(min=0.0, help="Most memory at its peak, in MiB.")
    ] = None
    max_mj: Annotated[
        float | None, typer.Option(min=0.0, help="Most energy of an inference, in mJ: an estimate.")
    ] = None
    max_loss: Annotated[
        float | None,
        "Most accuracy lost, in percentage points: of top-1 with --labels, else of "
        "answers that are the same as in float.",
    ] = None
    min_db: Annotated[float | None, "Least SQNR of the outputs, in dB."] = None
    prefer: Annotated[
        str, Reads(str, _plain), "Rank by latency, accuracy, memory or energy first."
    ] = "latency"

    draws: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=100_000,
            help="Draws of all constants in doubt, for the intervals; 0: none; default: as "
            "many as bench takes.",
        ),
    ] = None
    sensitivity: Annotated[
        bool, "Also rank the layers of the best quantised choice, quantising one at a time."
    ] = False


@dataclass(frozen=True)
class Files(Keywords):
    """The files of the network, compared as they are loaded."""

    HEADING = "Files of the network"

    files: Annotated[
        bool,
        "Compare a float and a quantised file on every runtime instead of modes: sizes, "
        "loading, times and answers.",
    ] = False
    float_model: FloatModelOption = None
    override_params: OverrideParamsOption = None
    hta: HtaOption = True


@paged
@grouped
def decide(
    *,
    model: ModelArgument,
    place: Place,
    choice: Choice,
    inputs: LabelledInputs,
    files: Files,
    every: Annotated[
        bool, typer.Option("--all", help="Show all choices, also those that are ruled out.")
    ] = False,
    outputs: JsonCsvHtml,
) -> None:
    """Choose chip, runtime, quantiser mode and cut: ranked, with reasons, within your limits.

    Results are kept: a run that was interrupted continues where it was. The exit code is 1 if no
    choice is left, which a build may rely on.
    """
    if files.files:
        if unused := [*_set(choice), *(["--all"] if every else [])]:
            options = ", ".join(unused)
            raise HexsimError(f"{options}: of modes, which --files leaves out; give one or other")
    elif given := _set(files):
        raise HexsimError(f"{', '.join(given)}: of files that --files compares; give that too")
    from hexsim.api import decide as api
    from hexsim.reports.decision import decision_text

    how = {**place.keywords(), **inputs.keywords()}
    with TERMINAL.status():
        if files.files:
            loading = {name: value for name, value in files.keywords().items() if name != "files"}
            decision = api.decide_files(model, **loading, **how)
        else:
            decision = api.decide(model, **choice.keywords(), **how)
    outputs.write(decision)
    if decision.unstored:
        log("WARNING", f"results are not kept for the next run: {decision.unstored}")
    say(decision_text(decision, every=every))
    if not decision.rows:
        raise typer.Exit(1)


def _set(group: Any) -> list[str]:
    """Return the options of a group that are set."""
    return [
        spelled(field.name)
        for field in fields(group)
        if getattr(group, field.name) != field.default
    ]
