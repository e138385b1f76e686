"""`hexsim decide` chooses chip, runtime, quantiser mode and cut within limits, or a file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hexsim.cli._files import CHIPS, separated
from hexsim.cli._inputs import LabelledInputs
from hexsim.cli._options import (
    AnchorOption,
    FloatModelOption,
    IdealCpuOption,
    IdleOption,
    InputDimOption,
    ModelArgument,
    NoFallbackOption,
    NoHtaOption,
    NoPowerCollapseOption,
    OverrideParamsOption,
    ProfileOption,
    StackOption,
    VtcmOption,
    parse_input_dims,
    parse_runtimes,
)
from hexsim.cli._output import JsonCsvHtml
from hexsim.cli._progress import TERMINAL
from hexsim.cli._say import log, say
from hexsim.cli._signature import grouped, paged
from hexsim.errors import HexsimError
from hexsim.runtimes import DEFAULT_CHIP

if TYPE_CHECKING:
    from hexsim.api.decide import Deciding
    from hexsim.results.decision import Decision, Preference

EXAMPLES = {
    "decide": (
        "hexsim decide model.onnx --chips sd855,sd865 --max-ms 10",
        "hexsim decide quantised.dlc --files --float model.onnx --chips sd855",
    )
}


@dataclass(frozen=True)
class Chips:
    """The chips to choose from, their software, and the settings of calls."""

    chips: Annotated[
        str,
        typer.Option("--chips", help="Names or TOML files of chips, comma separated."),
        CHIPS,
    ] = DEFAULT_CHIP
    stack: StackOption = None
    ideal_cpu: IdealCpuOption = False
    perf_profile: ProfileOption = None
    idle_ms: IdleOption = 0.0
    no_power_collapse: NoPowerCollapseOption = False
    anchor: AnchorOption = None
    vtcm: VtcmOption = None

    @property
    def names(self) -> list[str]:
        """The names of the chips."""
        return separated(self.chips)

    def settings(self) -> Deciding:
        """Return the other options by the names of the API."""
        return {
            "stack": self.stack,
            "ideal_cpu": self.ideal_cpu,
            "perf_profile": self.perf_profile,
            "idle_ms": self.idle_ms,
            "power_collapse": not self.no_power_collapse,
            "anchor": self.anchor,
            "vtcm_mb": self.vtcm,
        }


@dataclass(frozen=True)
class DecideChoices:
    """The alternatives, the limits, and the preference."""

    runtime: Annotated[
        str | None, typer.Option("--runtime", help="Comma separated; default: all of each chip.")
    ] = None
    modes: Annotated[
        str | None,
        typer.Option(
            "--modes",
            help="Quantiser modes, comma separated: float, default, enhanced, bias32, axis, "
            "axis+bias32, cle, cle+bc, act16, axis+act16, mixed; default: all.",
        ),
    ] = None
    max_ms: Annotated[
        float | None, typer.Option("--max-ms", min=0.0, help="Most time of an inference, in ms.")
    ] = None
    max_mb: Annotated[
        float | None, typer.Option("--max-mb", min=0.0, help="Most memory at its peak, in MiB.")
    ] = None
    max_mj: Annotated[
        float | None,
        typer.Option("--max-mj", min=0.0, help="Most energy of an inference, in mJ: an estimate."),
    ] = None
    max_loss: Annotated[
        float | None,
        typer.Option(
            "--max-loss",
            help="Most accuracy lost, in percentage points: of top-1 with --labels, else of "
            "answers that are the same as in float.",
        ),
    ] = None
    min_db: Annotated[
        float | None, typer.Option("--min-db", help="Least SQNR of the outputs, in dB.")
    ] = None
    prefer: Annotated[
        str,
        typer.Option("--prefer", help="Rank by latency, accuracy, memory or energy first."),
    ] = "latency"


@dataclass(frozen=True)
class DecideWork:
    """Options to read the model, and the extent of the study and its report."""

    input_dim: InputDimOption = None
    no_cpu_fallback: NoFallbackOption = False
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            min=0,
            max=100_000,
            help="Draws of all constants in doubt, for the intervals; 0: none; default: as "
            "many as bench takes.",
        ),
    ] = None
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Also rank the layers of the best quantised choice, quantising one at a time.",
        ),
    ] = False
    every: Annotated[
        bool, typer.Option("--all", help="Show all choices, also those that are ruled out.")
    ] = False


@dataclass(frozen=True)
class Files:
    """The files of the network, compared as they are loaded."""

    HEADING = "Files of the network"

    files: Annotated[
        bool,
        typer.Option(
            "--files",
            help="Compare a float and a quantised file on every runtime instead of modes: sizes, "
            "loading, times and answers.",
        ),
    ] = False
    float_model: FloatModelOption = None
    override_params: OverrideParamsOption = None
    no_hta: NoHtaOption = False


@paged
@grouped
def decide(
    *,
    model: ModelArgument,
    chips: Chips,
    choice: DecideChoices,
    inputs: LabelledInputs,
    files: Files,
    work: DecideWork,
    outputs: JsonCsvHtml,
) -> None:
    """Choose chip, runtime, quantiser mode and cut: ranked, with reasons, within your limits.

    Results are kept: a run that was interrupted continues where it was. The exit code is 1 if no
    choice is left, which a build may rely on.
    """
    if files.files:
        unused = _set(choice, "runtime"), _set(work, "input_dim", "no_cpu_fallback")
        if any(unused):
            options = ", ".join(option for words in unused for option in words)
            raise HexsimError(f"{options}: of modes, which --files leaves out; give one or other")
    elif given := _set(files):
        raise HexsimError(f"{', '.join(given)}: of files that --files compares; give that too")
    with TERMINAL.status():
        decision = _answer(model, chips, choice, inputs, files, work)
    outputs.write(decision)
    if decision.unstored:
        log("WARNING", f"results are not kept for the next run: {decision.unstored}")
    from hexsim.reports.decision import decision_text

    say(decision_text(decision, every=work.every))
    if not decision.rows:
        raise typer.Exit(1)


def _answer(
    model: str,
    chips: Chips,
    choice: DecideChoices,
    inputs: LabelledInputs,
    files: Files,
    work: DecideWork,
) -> Decision:
    from hexsim.api import decide as api

    runtimes = parse_runtimes(choice.runtime)
    how: api.Deciding = {
        **chips.settings(),
        **inputs.judging(),
        "cpu_fallback": not work.no_cpu_fallback,
        "input_dims": parse_input_dims(work.input_dim),
    }
    if files.files:
        of_files: api.Loading = {
            **how,
            "float_model": files.float_model,
            "override_params": files.override_params,
            "hta": not files.no_hta,
        }
        return api.decide_files(model, chips.names, runtimes, **of_files)
    of_modes: api.Choosing = {
        **how,
        "modes": choice.modes,
        "max_ms": choice.max_ms,
        "max_mb": choice.max_mb,
        "max_mj": choice.max_mj,
        "max_loss": choice.max_loss,
        "min_db": choice.min_db,
        "prefer": cast("Preference", choice.prefer.strip().lower()),
        "draws": work.draws,
        "sensitivity": work.sensitivity,
    }
    return api.decide(model, chips.names, runtimes, **of_modes)


def _set(group: Any, *but: str) -> list[str]:
    """Return the options of a group that are set, but for the fields called `but`."""
    return [
        f"--{_SPELT.get(field.name, field.name).replace('_', '-')}"
        for field in fields(group)
        if field.name not in but and getattr(group, field.name) != field.default
    ]


_SPELT = {"every": "all", "float_model": "float"}
"""Fields that have other names than their options."""
